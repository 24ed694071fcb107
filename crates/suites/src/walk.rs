//! A walk through the heap as a record holds it: arms, and their steps with the state after each. For code that judges or draws
//! it. Pure.

use std::collections::BTreeMap;

use figure::Figure;
use figure::evidence::*;
use figure::series::CoordinateValue;

/// The mode of the figures of a walk.
pub const MODE: &str = "faults.walk";

/// The figures of one arm, in the order of the steps.
#[derive(Clone, Debug)]
pub struct Arm<'a> {
    /// Its word: dynamic, frozen.
    pub word: String,
    /// Its steps.
    pub steps: Vec<Step<'a>>,
}

/// The state after a step, in the last kept round.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// The figure: bytes in memory.
    pub figure: &'a Figure,
    /// The step: `free c`; untrusted.
    pub name: &'a str,
    /// How far the heap's end is above its start, in bytes.
    pub end: f64,
    /// Of each page of the heap, whether it is in memory.
    pub pages: Vec<bool>,
    /// Bytes of mappings that were not there before.
    pub mapped: f64,
    /// Minor faults in the step: the least that any round saw, as a page of a file may or may not be there.
    pub faults: f64,
    /// The blocks that are there.
    pub blocks: Vec<Block>,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its letter.
    pub name: char,
    /// Whether it lies in a mapping; else in the heap.
    pub is_mapping: bool,
    /// Bytes from the heap's start, or that of the mapping.
    pub offset: f64,
    /// Bytes that were asked for.
    pub bytes: f64,
    /// Bytes of its pages that are in memory.
    pub resident: f64,
}

impl Arm<'_> {
    /// The step of this name.
    pub fn step(&self, name: &str) -> Option<&Step<'_>> {
        self.steps.iter().find(|step| step.name == name)
    }
}

impl Step<'_> {
    /// The block of this letter.
    pub fn block(&self, name: char) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Whether two steps are indistinguishable. Bytes in memory may differ from start to start, as some allocators shift blocks at
    /// random: there it is enough that some rounds of the one lie among those of the other.
    pub fn is_as(&self, other: &Step) -> bool {
        let place = |step: &Step| -> Vec<(char, bool)> {
            step.blocks.iter().map(|block| (block.name, block.is_mapping)).collect()
        };
        let range = |step: &Step| {
            let values = step.figure.kept_values().into_iter();
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (one, two) = (range(self), range(other));
        (self.end, self.mapped) == (other.end, other.mapped)
            && place(self) == place(other)
            && one.0 <= two.1
            && two.0 <= one.1
    }
}

/// The arms of a record, each as far as it was walked; a step of which too little is known is left out.
pub fn arms<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Vec<Arm<'a>> {
    let mut order = Vec::new();
    let mut arms: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    for figure in figures {
        let Some(word) = figure.conditions.get(WALK_ARM) else { continue };
        if !order.contains(&word) {
            order.push(word.clone());
        }
        arms.entry(word).or_default().extend(step(figure));
    }
    let arm = |word: String| Arm { steps: arms.remove(&word).unwrap_or_default(), word };
    order.into_iter().map(arm).filter(|arm| !arm.steps.is_empty()).collect()
}

fn step(figure: &Figure) -> Option<Step<'_>> {
    let CoordinateValue::Name(name) = &figure.at.get("step")?.value else { return None };
    figure.value?;
    let evidence = &figure.used_rounds().last()?.evidence;
    let number = |key| evidence.get(key).into_value().filter(|bytes: &f64| *bytes >= 0.0);
    let faults = figure.over_rounds(WALK_FAULTS).into_value()?;
    Some(Step {
        figure,
        name,
        end: number(WALK_BREAK)?,
        pages: evidence.get(WALK_HEAP_PAGES).into_value()?.chars().map(|page| page == '#').collect(),
        mapped: number(WALK_MAPPED)?,
        faults: faults.into_iter().reduce(f64::min)?,
        blocks: blocks(&evidence.get(WALK_BLOCKS).into_value()?)?,
    })
}

/// The blocks of a [`WALK_BLOCKS`] text.
fn blocks(text: &str) -> Option<Vec<Block>> {
    let block = |text: &str| {
        let mut words = text.split(' ');
        let name = words.next()?.chars().next().filter(char::is_ascii_alphabetic)?;
        let is_mapping = match words.next()? {
            "heap" => false,
            "mapping" => true,
            _ => return None,
        };
        let mut number =
            || words.next()?.parse().ok().filter(|bytes: &f64| bytes.is_finite() && *bytes >= 0.0);
        Some(Block { name, is_mapping, offset: number()?, bytes: number()?, resident: number()? })
    };
    text.split(';').filter(|text| !text.is_empty()).map(block).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn blocks_are_read_as_they_are_written() {
        let read = blocks("a heap 672 30720 32768;c mapping 16 204800 4096").unwrap();
        assert_eq!(read.len(), 2);
        let c = Block { name: 'c', is_mapping: true, offset: 16.0, bytes: 204_800.0, resident: 4096.0 };
        assert_eq!(read[1], c);
        assert_eq!(blocks(""), Some(vec![]));
        for wrong in [
            "a",
            "a heap",
            "a stack 1 2 3",
            "a heap 1 2",
            "a heap 1 -2 3",
            "a heap 1 inf 3",
            "\u{1b} heap 1 2 3",
        ] {
            assert_eq!(blocks(wrong), None, "{wrong:?}");
        }
    }
}
