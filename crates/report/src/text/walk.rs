//! A walk through the heap, drawn: for each step the heap as a bar with the blocks in it and where it ends, beside it the blocks that
//! have mappings of their own, all to one scale.

use figure::Verdict;
use figure::format::{bytes, decimals, plain_to};
use suites::walk::{Arm, Block, MODE, Step, arms};

use super::page::{INDENT, Page};
use crate::grid::Mode;
use crate::mark;

/// Columns between two columns of the drawing.
const GAP: usize = 2;
/// The longest name of a step that is shown, and that on a narrow page.
const MAX_NAME: usize = 16;
const MAX_NARROW: usize = 12;
/// Width of the numbers: bytes in memory, faults.
const MEMORY: usize = 7;
const FAULTS: usize = 6;
/// A narrower page goes without faults.
const WIDTH_FOR_FAULTS: usize = 52;
/// Heads of the bars, which are no narrower.
const HEADS: [&str; 2] = ["heap", "mapped"];
/// What a column stands for is a multiple of this: of a page, mostly.
const GRAIN: f64 = 4096.0;

/// Signs: of a block what is in memory and what is not; the same of what is free; the heap's end.
const THERE: char = '█';
const ABSENT: char = '░';
const FREE_THERE: char = '▒';
const FREE_ABSENT: char = '·';
const END: char = '│';

/// Draws a mode, if it is a walk of which enough is known. Whether it was.
pub(super) fn draw(page: &mut Page, mode: &Mode) -> bool {
    if mode.key != MODE {
        return false;
    }
    let arms = arms(mode.figures());
    if arms.is_empty() {
        return false;
    }
    let scale = Scale::of(&arms, page.width() - INDENT);
    page.title(&format!("{MODE}: the heap as blocks come and go"));
    page.aside(&caption(&arms, &scale));
    for arm in &arms {
        page.gap();
        lay(page, arm, &scale);
    }
    page.gap();
    page.aside(&format!(
        "a letter begins a block, a capital where that is in memory; {THERE} in memory, {ABSENT} not yet; free: {FREE_THERE} still in \
         memory, {FREE_ABSENT} not; {END} the heap's end (brk)"
    ));
    true
}

/// How large everything is drawn.
struct Scale {
    /// Bytes of a column.
    column: f64,
    /// Columns of names, heaps, mappings.
    names: usize,
    heap: usize,
    mappings: usize,
    /// Whether there is room for faults.
    faults: bool,
}

impl Scale {
    fn of(arms: &[Arm], width: usize) -> Scale {
        let steps = || arms.iter().flat_map(|arm| &arm.steps);
        let faults = width + INDENT >= WIDTH_FOR_FAULTS;
        let most = if faults { MAX_NAME } else { MAX_NARROW };
        let names = steps().map(|step| textwrap::core::display_width(&label(step, most))).max().unwrap_or(0);
        let numbers = GAP + MEMORY + if faults { GAP + FAULTS } else { 0 };
        let room = width.saturating_sub(names + GAP + numbers).max(GAP + 4);
        let heap = steps().map(|step| step.end).fold(0.0, f64::max);
        let all =
            heap + steps().map(|step| mappings(step).map(|block| block.bytes).sum()).fold(0.0, f64::max);
        // From what would fit were there no ends and no gaps, upwards. What is not drawn to scale, is cut.
        let mut column = (all / room as f64 / GRAIN).ceil().max(1.0) * GRAIN;
        loop {
            let scale = |heap, mappings| Scale { column, names, heap, mappings, faults };
            let heap = (columns(heap, column) + 1).max(HEADS[0].len());
            let mappings = steps().map(|step| mapped(step, column).chars().count()).max().unwrap_or(0);
            let mappings = if mappings > 0 { mappings.max(HEADS[1].len()) } else { 0 };
            if heap + GAP + mappings <= room || column > 2.0 * all {
                return scale(heap, mappings);
            }
            column += (column / GRAIN / 8.0).ceil() * GRAIN;
        }
    }
}

/// So many columns hold so many bytes.
fn columns(bytes: f64, column: f64) -> usize {
    (bytes / column).ceil() as usize
}

/// What the blocks are, and the scale.
fn caption(arms: &[Arm], scale: &Scale) -> String {
    let mut blocks: Vec<(char, f64)> = Vec::new();
    for block in arms.iter().flat_map(|arm| &arm.steps).flat_map(|step| &step.blocks) {
        if !blocks.iter().any(|(name, _)| *name == block.name) {
            blocks.push((block.name, block.bytes));
        }
    }
    let blocks: Vec<String> =
        blocks.into_iter().map(|(name, size)| format!("{name} {}", bytes(size))).collect();
    format!("{}; a column is {}", blocks.join(", "), bytes(scale.column))
}

/// The steps of an arm, one to a line.
fn lay(page: &mut Page, arm: &Arm, scale: &Scale) {
    let Scale { names, heap, mappings, .. } = *scale;
    let gap = " ".repeat(GAP);
    let faults = |text: &str| if scale.faults { format!("{gap}{text:>FAULTS$}") } else { String::new() };
    let pad = " ".repeat(INDENT);
    page.paragraph(&pad, &pad, &description(&arm.word));
    let head = if mappings > 0 {
        format!("{:heap$}{gap}{:<mappings$}", HEADS[0], HEADS[1])
    } else {
        format!("{:heap$}", HEADS[0])
    };
    let line = format!("{:names$}{gap}{head}{gap}{:>MEMORY$}{}", "", "memory", faults("faults"));
    page.line(&format!("{:INDENT$}{}", "", page.paint(anstyle::Style::new().dimmed(), &line)));
    for step in &arm.steps {
        let name = label(step, if scale.faults { MAX_NAME } else { MAX_NARROW });
        let memory = step.figure.value.map(bytes).unwrap_or_default();
        let mapped = if mappings > 0 {
            format!("{gap}{:mappings$}", mapped(step, scale.column))
        } else {
            String::new()
        };
        page.line(&format!(
            "{:INDENT$}{name:names$}{gap}{:heap$}{mapped}{gap}{memory:>MEMORY$}{}",
            "",
            bar(step, scale.column),
            faults(&decimals(step.faults, 0)),
        ));
    }
}

/// A step's name, with a mark unless its figure is valid.
fn label(step: &Step, most: usize) -> String {
    let name = plain_to(step.name, most);
    match step.figure.verdict.filter(|verdict| *verdict != Verdict::Valid) {
        Some(verdict) => format!("{} {name}", mark::of(verdict)),
        None => name,
    }
}

/// An arm's word for people.
fn description(word: &str) -> String {
    match word {
        "dynamic" => "dynamic thresholds, as a program gets them".to_owned(),
        "frozen" => "frozen thresholds (MALLOC_TRIM_THRESHOLD_=131072)".to_owned(),
        other => plain_to(other, 40),
    }
}

/// The heap, and where it ends.
fn bar(step: &Step, column: f64) -> String {
    let of_page = step.end / step.pages.len().max(1) as f64;
    let mut signs: Vec<char> = (0..columns(step.end, column))
        .map(|at| {
            let (from, to) = (at as f64 * column, ((at + 1) as f64 * column).min(step.end));
            let overlap =
                |block: &Block| (to.min(block.offset + block.bytes) - from.max(block.offset)).max(0.0);
            let in_blocks: f64 = heap(step).map(overlap).sum();
            let is_there = in_memory(&step.pages, of_page, from, to);
            match (in_blocks * 2.0 >= to - from, is_there) {
                (true, true) => THERE,
                (true, false) => ABSENT,
                (false, true) => FREE_THERE,
                (false, false) => FREE_ABSENT,
            }
        })
        .collect();
    for block in heap(step) {
        let at = (block.offset / column) as usize;
        let page = (block.offset / of_page.max(1.0)) as usize;
        if let Some(sign) = signs.get_mut(at) {
            *sign = letter(block, step.pages.get(page).is_some_and(|is_there| *is_there));
        }
    }
    signs.push(END);
    signs.into_iter().collect()
}

/// Whether most of the pages of a part of the heap are in memory.
fn in_memory(pages: &[bool], of_page: f64, from: f64, to: f64) -> bool {
    let first = (from / of_page) as usize;
    let behind = ((to / of_page).ceil() as usize).clamp(first, pages.len());
    let part = pages.get(first..behind).unwrap_or_default();
    part.iter().filter(|is_there| **is_there).count() * 2 > part.len()
}

/// The blocks in mappings, one beside the other.
fn mapped(step: &Step, column: f64) -> String {
    let drawn = mappings(step).map(|block| {
        let all = columns(block.bytes, column).max(1);
        let share = (block.resident / block.bytes.max(1.0)).min(1.0);
        let there = (share * all as f64).round() as usize;
        let fill = (1..all).map(|at| if at < there { THERE } else { ABSENT });
        [letter(block, block.resident > 0.0)].into_iter().chain(fill).collect::<String>()
    });
    drawn.collect::<Vec<_>>().join(" ")
}

fn letter(block: &Block, is_there: bool) -> char {
    if is_there { block.name.to_ascii_uppercase() } else { block.name.to_ascii_lowercase() }
}

fn heap<'a>(step: &'a Step) -> impl Iterator<Item = &'a Block> {
    step.blocks.iter().filter(|block| !block.is_mapping)
}

fn mappings<'a>(step: &'a Step) -> impl Iterator<Item = &'a Block> {
    step.blocks.iter().filter(|block| block.is_mapping)
}
