//! Sets of CPU (or node) numbers in the kernel's list format, `0-3,8,10-11`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The largest number accepted in a list. Linux allows at most 8192 CPUs on x86-64 (NR_CPUS); a damaged file
/// must not make us build a set of four billion.
pub const MAX_NUMBER: u32 = 65_535;

/// The longest text accepted: every second number up to [`MAX_NUMBER`] takes 193 KiB.
const MAX_TEXT: usize = 256 << 10;

/// An ordered set of CPU or node numbers. Its text form is the kernel's "cpulist" format
/// (Documentation/admin-guide/kernel-parameters.rst, "cpu lists"): `0-3,8`, with an optional stride `0-6:2/4`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuList(BTreeSet<u32>);

impl CpuList {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many numbers the set holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Adds `cpu`.
    pub fn insert(&mut self, cpu: u32) {
        self.0.insert(cpu);
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// The smallest number.
    pub fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// Numbers in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// Numbers in `self` that are not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }

    /// Whether every number of `self` is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

/// A text that is not a CPU list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACpuList(String);

impl fmt::Display for NotACpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a CPU list; write numbers and ranges such as 0-3,8", self.0)
    }
}

impl std::error::Error for NotACpuList {}

impl FromStr for CpuList {
    type Err = NotACpuList;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || NotACpuList(text.trim().chars().take(80).collect());
        let number = |part: &str| match part.trim().parse::<u32>() {
            Ok(n) if n <= MAX_NUMBER => Ok(n),
            _ => Err(error()),
        };
        if text.len() > MAX_TEXT {
            return Err(error());
        }
        // A mark for each number up to the largest, and not a growing set: the same ranges may be repeated thousands of times.
        let mut marks = Vec::new();
        for part in text.trim().split(',').filter(|part| !part.trim().is_empty()) {
            let (range, group) = match part.split_once(':') {
                Some((range, group)) => {
                    let (used, size) = group.split_once('/').ok_or_else(error)?;
                    (range, Some((number(used)?, number(size)?)))
                }
                None => (part, None),
            };
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(range)?, number(range)?),
            };
            if first > last || group.is_some_and(|(used, size)| size == 0 || used > size) {
                return Err(error());
            }
            if marks.len() <= last as usize {
                marks.resize(last as usize + 1, false);
            }
            match group {
                None => marks[first as usize..=last as usize].fill(true),
                Some((used, size)) => {
                    for number in (first..=last).filter(|number| (number - first) % size < used) {
                        marks[number as usize] = true;
                    }
                }
            }
        }
        let set = marks.iter().zip(0..).filter(|(marked, _)| **marked).map(|(_, number)| number).collect();
        Ok(Self(set))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = numbers.next() {
            let mut last = first;
            while numbers.peek() == Some(&(last + 1)) {
                last += 1;
                numbers.next();
            }
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl Serialize for CpuList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for CpuList {
    fn schema_name() -> Cow<'static, str> {
        "CpuList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "CPU or node numbers in the kernel's list format, such as 0-3,8",
            "pattern": "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_the_kernel_prints() {
        let list: CpuList = "0-3,8,10-11\n".parse().unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!("0-7:2/4".parse::<CpuList>().unwrap().to_string(), "0-1,4-5");
        assert!("".parse::<CpuList>().unwrap().is_empty());
    }

    #[test]
    fn refuses_nonsense() {
        for text in ["a", "3-1", "0-4294967295", "-", "1--2", "0-7:2", "0-7:3/2", "0-7:0/0"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_damaged_file_costs_little() {
        assert!("0-65535,".repeat(1 << 20).parse::<CpuList>().is_err());
        assert_eq!("0-65535,".repeat(1 << 14).parse::<CpuList>().unwrap().len(), 65_536);
        let every_second: CpuList = (0..=MAX_NUMBER).step_by(2).collect();
        assert_eq!(every_second.to_string().parse::<CpuList>().unwrap(), every_second);
    }

    proptest! {
        #[test]
        fn text_form_is_reversible(numbers in proptest::collection::btree_set(0..5000u32, 0..60)) {
            let list: CpuList = numbers.into_iter().collect();
            prop_assert_eq!(list.to_string().parse::<CpuList>().unwrap(), list);
        }

        #[test]
        fn never_panics(text in "[-0-9,:/ a]{0,40}") {
            let _ = text.parse::<CpuList>();
        }
    }
}
