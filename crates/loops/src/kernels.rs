//! The kernels as data, after likwid-bench: accounting, limits and texts all come from these declarations.
//!
//! STREAM's four are "store misses" (McCalpin): none reads the array that it writes, so a regular store first
//! reads the line into cache (write-allocate), and memory moves more than STREAM counts. `update` reads what
//! it writes; `read` and `write` only do the one.

use std::fmt;
use std::str::FromStr;

use lab::failure::Failure;
use serde::{Deserialize, Serialize};

/// Bytes of an element: a double.
pub const ELEMENT: u64 = 8;
/// STREAM's 3.0 lets values grow 15-fold a pass; BabelStream's 0.4 keeps them in range for thousands.
pub const SCALAR: f64 = 0.4;
/// `update` multiplies by this, so that any number of passes keeps the magnitude.
pub const UPDATE_FACTOR: f64 = -1.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Array {
    A,
    B,
    C,
}

pub const ALL_ARRAYS: [Array; 3] = [Array::A, Array::B, Array::C];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// c = a
    Copy,
    /// b = s c
    Scale,
    /// c = a + b
    Add,
    /// a = b + s c
    Triad,
    /// sum of a
    Read,
    /// b = s
    Write,
    /// a = s a
    Update,
}

words! {
    #[derive(Hash)]
    pub enum Stores {
        /// Ordinary stores: a line that is not in cache is read first.
        Regular = "regular",
        /// Non-temporal stores: whole lines go to memory without being read.
        Nt = "nt",
        None = "none",
    }
}

#[derive(Debug)]
pub struct Kernel {
    pub name: &'static str,
    /// STREAM's name for it, else truebench's.
    pub title: &'static str,
    pub formula: &'static str,
    pub operation: Operation,
    pub loads: &'static [Array],
    pub stores: Option<Array>,
    /// The ways of storing that make sense. Non-temporal `update` does not: the line was just read.
    pub ways: &'static [Stores],
}

use crate::words;
use Array::{A, B, C};
use Stores::{Nt, Regular};

const fn kernel(
    name: &'static str,
    title: &'static str,
    formula: &'static str,
    operation: Operation,
    loads: &'static [Array],
    stores: Option<Array>,
    ways: &'static [Stores],
) -> Kernel {
    Kernel { name, title, formula, operation, loads, stores, ways }
}

/// The kernels. A new one is one entry here and its code in [`simd`](crate::simd).
pub static KERNELS: &[Kernel] = &[
    kernel("copy", "Copy", "c = a", Operation::Copy, &[A], Some(C), &[Regular, Nt]),
    kernel("scale", "Scale", "b = s c", Operation::Scale, &[C], Some(B), &[Regular, Nt]),
    kernel("add", "Add", "c = a + b", Operation::Add, &[A, B], Some(C), &[Regular, Nt]),
    kernel("triad", "Triad", "a = b + s c", Operation::Triad, &[B, C], Some(A), &[Regular, Nt]),
    kernel("read", "Read", "sum of a", Operation::Read, &[A], None, &[Stores::None]),
    kernel("write", "Write", "b = s", Operation::Write, &[], Some(B), &[Regular, Nt]),
    kernel("update", "Update", "a = s a", Operation::Update, &[A], Some(A), &[Regular]),
];

impl Kernel {
    pub fn named(name: &str) -> Option<&'static Kernel> {
        KERNELS.iter().find(|kernel| kernel.name == name)
    }

    pub fn of(operation: Operation) -> &'static Kernel {
        KERNELS.iter().find(|kernel| kernel.operation == operation).expect("every operation is listed")
    }

    /// Bytes that STREAM's convention counts for each element: every access that the source names.
    pub fn counted_bytes(&self) -> u64 {
        (self.loads.len() as u64 + u64::from(self.stores.is_some())) * ELEMENT
    }

    /// Whether it stores to lines that it has not read.
    pub fn store_misses(&self) -> bool {
        self.stores.is_some_and(|target| !self.loads.contains(&target))
    }

    /// Bytes that must move for each element: those counted, and what regular stores that miss allocate.
    pub fn traffic_bytes(&self, stores: Stores) -> u64 {
        let allocate = self.store_misses() && stores != Nt;
        self.counted_bytes() + u64::from(allocate) * ELEMENT
    }

    pub fn arrays_used(&self) -> u64 {
        self.loads.len() as u64 + u64::from(self.store_misses())
    }
}

/// How many bytes are read for how many written, in Intel MLC's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mix {
    Ratio(u8, u8),
    /// Two streams read, one written past the cache, as a non-temporal triad.
    TriadLike,
}

pub const MIXES: &[Mix] = &[
    Mix::Ratio(1, 0),
    Mix::Ratio(3, 1),
    Mix::Ratio(2, 1),
    Mix::Ratio(1, 1),
    Mix::Ratio(0, 1),
    Mix::TriadLike,
];

impl Mix {
    pub fn stores(self) -> Stores {
        if matches!(self, Mix::Ratio(_, 0)) { Stores::None } else { Nt }
    }

    pub fn title(self) -> String {
        match self {
            Mix::Ratio(_, 0) => "all reads".to_owned(),
            Mix::Ratio(0, _) => "all writes".to_owned(),
            Mix::Ratio(reads, writes) => format!("{reads} read for {writes} written"),
            Mix::TriadLike => "as a non-temporal triad".to_owned(),
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mix::Ratio(reads, writes) => write!(f, "{reads}:{writes}"),
            Mix::TriadLike => f.write_str("triad-like"),
        }
    }
}

impl FromStr for Mix {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        MIXES.iter().copied().find(|mix| mix.to_string() == text).ok_or_else(|| {
            let all: Vec<String> = MIXES.iter().map(Mix::to_string).collect();
            Failure::new(format!("there are {}", all.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounting_is_streams_and_the_studys() {
        let bytes = |name: &str, stores| {
            let kernel = Kernel::named(name).unwrap();
            (kernel.counted_bytes(), kernel.traffic_bytes(stores))
        };
        // Study 1, step 6: Copy and Scale move 3/2 of what STREAM counts, Add and Triad 4/3.
        assert_eq!(bytes("copy", Regular), (16, 24));
        assert_eq!(bytes("scale", Regular), (16, 24));
        assert_eq!(bytes("add", Regular), (24, 32));
        assert_eq!(bytes("triad", Regular), (24, 32));
        assert_eq!(bytes("triad", Nt), (24, 24));
        assert_eq!(bytes("write", Regular), (8, 16));
        assert_eq!(bytes("write", Nt), (8, 8));
        assert_eq!(bytes("read", Stores::None), (8, 8));
        assert_eq!(bytes("update", Regular), (16, 16), "it reads what it writes: no store miss");
    }

    #[test]
    fn every_operation_is_listed_once() {
        for kernel in KERNELS {
            assert!(std::ptr::eq(Kernel::of(kernel.operation), kernel));
            assert_eq!(kernel.ways.contains(&Stores::None), kernel.stores.is_none());
        }
    }
}
