//! The drawing: domains as boxes, and in them, in a grid, one cell for each core or L2.
//!
//! It is as detailed as [`MAX_LINES`] allow. First every core is a cell that shows its threads; where that
//! would be too long, the box around the cells becomes a cell itself (an L3 with a list of its CPUs, then
//! a package), until the drawing is short enough.

use figure::format::{bytes, plain_to};
use figure::host::Node;
use figure::{CpuList, Machine};
use textwrap::core::display_width;

use super::domains::{Domain, domains, runs};
use super::sheet::{padded, wrapped};

/// The longest drawing: about a screen.
const MAX_LINES: usize = 40;
/// Up to this length rows of cells are parted by lines; longer drawings do without.
const MAX_RULED_LINES: usize = 24;
/// The narrowest grid, whatever is drawn around it.
const MIN_ROOM: usize = 12;
/// The most cores whose threads are listed one by one in one cell.
const MAX_CORES_LISTED: usize = 4;
/// The most nodes without CPUs that are drawn.
const MAX_MEMORIES: usize = 8;
/// The longest list of CPUs that is written in full.
const MAX_LIST: usize = 32;

/// Lines of equal width.
type Block = Vec<String>;

/// The drawing in at most `width` columns.
pub fn drawing(machine: &Machine, width: usize) -> Vec<String> {
    let root = domains(machine);
    let height = root.children.iter().map(Domain::height).max().unwrap_or(0);
    let mut drawn = Vec::new();
    for coarseness in 0..=height {
        for ruled in [true, false] {
            let mut pen = Pen { machine, coarseness, ruled, cell: 0 };
            pen.cell = pen.widest(&root.children);
            drawn = pen.inside(&root.children, width);
            let most = if ruled { MAX_RULED_LINES } else { MAX_LINES };
            if drawn.len() <= most && block_width(&drawn) <= width {
                return drawn;
            }
        }
    }
    drawn
}

/// A box for each node that has memory and no CPUs, to stand below the drawing; empty without one.
pub fn memories(machine: &Machine, width: usize) -> Vec<String> {
    let framed = |node: &Node| {
        let size = node.memory.map_or("size unknown".to_owned(), |size| bytes(size as f64));
        let (title, text) = (format!("node {}", node.node), format!("{} {size}", node.memory_title()));
        let room = display_width(&text).max(display_width(&title) + 1);
        vec![
            format!("┌ {title} {}┐", "─".repeat(room - display_width(&title))),
            format!("│ {} │", padded(&text, room)),
            format!("└{}┘", "─".repeat(room + 2)),
        ]
    };
    let boxes: Vec<Block> = machine.memory_only_nodes().map(framed).collect();
    // More are listed by the table of nodes alone.
    if boxes.len() > MAX_MEMORIES { Vec::new() } else { side_by_side(boxes, width) }
}

/// How to draw.
struct Pen<'a> {
    machine: &'a Machine,
    /// Domains with at most so many levels inside are cells.
    coarseness: usize,
    /// Whether lines stand between rows of cells.
    ruled: bool,
    /// Columns of a cell's text: the same everywhere, so that boxes that are alike look alike.
    cell: usize,
}

impl Pen<'_> {
    fn is_cell(&self, domain: &Domain) -> bool {
        domain.height() <= self.coarseness
    }

    /// The widest text of a cell.
    fn widest(&self, domains: &[Domain]) -> usize {
        let width = |domain: &Domain| match self.is_cell(domain) {
            true => display_width(&self.cell(domain)),
            false => self.widest(&domain.children),
        };
        domains.iter().map(width).max().unwrap_or(0)
    }

    /// The contents of a box: grids of cells, each below its caption, and boxes side by side.
    fn inside(&self, domains: &[Domain], width: usize) -> Block {
        let mut lines = Vec::new();
        let mut boxes: Vec<Block> = Vec::new();
        for run in runs(domains) {
            if self.is_cell(&run[0]) {
                lines.append(&mut side_by_side(std::mem::take(&mut boxes), width));
                lines.extend(caption(&run[0].shape(run.len()), width));
                let cells: Vec<String> = run.iter().map(|domain| self.cell(domain)).collect();
                lines.append(&mut self.grid(&cells, width));
            } else {
                boxes.extend(run.iter().map(|domain| self.framed(domain, width)));
            }
        }
        lines.append(&mut side_by_side(boxes, width));
        squared(lines)
    }

    /// A domain as a box with its title in the upper edge.
    fn framed(&self, domain: &Domain, width: usize) -> Block {
        let inside = self.inside(&domain.children, width.saturating_sub(4).max(MIN_ROOM));
        let title = plain_to(&domain.title(), width.saturating_sub(5).max(MIN_ROOM));
        let room = block_width(&inside).max(display_width(&title) + 1);
        let mut lines = vec![format!("┌ {title} {}┐", "─".repeat(room - display_width(&title)))];
        lines.extend(inside.iter().map(|line| format!("│ {} │", padded(line, room))));
        lines.push(format!("└{}┘", "─".repeat(room + 2)));
        lines
    }

    /// Cells of equal width, as many in a row as fit.
    fn grid(&self, cells: &[String], width: usize) -> Block {
        let per_row = (width.saturating_sub(1) / (self.cell + 3)).clamp(1, cells.len().max(1));
        // Rows as even as possible: 8 + 8 rather than 9 + 7.
        let rows = cells.len().div_ceil(per_row).max(1);
        let per_row = cells.len().div_ceil(rows);
        let rule = |left: &str, cross: &str, right: &str| {
            format!("{left}{}{right}", vec!["─".repeat(self.cell + 2); per_row].join(cross))
        };
        let mut lines = vec![rule("┌", "┬", "┐")];
        for (at, row) in cells.chunks(per_row).enumerate() {
            if at > 0 && self.ruled {
                lines.push(rule("├", "┼", "┤"));
            }
            // Missing cells of the last row stay empty.
            let texts = row.iter().map(String::as_str).chain(std::iter::repeat("")).take(per_row);
            let texts: Vec<String> = texts.map(|text| format!(" {} ", padded(text, self.cell))).collect();
            lines.push(format!("│{}│", texts.join("│")));
        }
        lines.push(rule("└", "┴", "┘"));
        lines
    }

    /// The text of a cell: its threads where they are few, joined by `+` in a core; else a list.
    fn cell(&self, domain: &Domain) -> String {
        let allowed = &self.machine.topology.allowed;
        let cores: Vec<&CpuList> = match domain.children.as_slice() {
            [] => vec![&domain.cpus],
            children => children.iter().map(|child| &child.cpus).collect(),
        };
        let smt = cores.iter().any(|core| core.len() > 1);
        if domain.height() == 0 && smt && cores.len() <= MAX_CORES_LISTED {
            let thread = |cpu: u32| {
                if allowed.contains(cpu) { cpu.to_string() } else { format!("({cpu})") }
            };
            let core = |core: &&CpuList| core.iter().map(thread).collect::<Vec<_>>().join("+");
            let text = cores.iter().map(core).collect::<Vec<_>>().join(" ");
            if display_width(&text) <= MAX_LIST {
                return text;
            }
        }
        marked(&domain.cpus, allowed)
    }
}

/// The usable ones of `cpus`, then the others in brackets; too long a list only counts them.
fn marked(cpus: &CpuList, allowed: &CpuList) -> String {
    let (usable, others) = (cpus.intersection(allowed), cpus.difference(allowed));
    if others.is_empty() {
        return compact(&usable);
    }
    if usable.is_empty() {
        return format!("({})", compact(&others));
    }
    let text = format!("{} ({})", compact(&usable), compact(&others));
    if display_width(&text) <= MAX_LIST {
        return text;
    }
    format!("{} ({}) CPUs", usable.len(), others.len())
}

/// A CPU list for people: `0-23,48-71`, `0,2,…,94` where firmware numbers packages in turn, and where there
/// is no order at all `96 CPUs from 0 to 190`.
pub fn compact(list: &CpuList) -> String {
    let numbers: Vec<u32> = list.iter().collect();
    let mut parts = Vec::new();
    let mut rest = numbers.as_slice();
    while let [first, more @ ..] = rest {
        let step = more.first().map_or(1, |second| second - first);
        let steady = rest.windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        let last = rest[steady];
        let (part, length) = match (step, steady) {
            (1, 1..) => (format!("{first}-{last}"), steady + 1),
            (_, 3..) => (format!("{first},{},…,{last}", first + step), steady + 1),
            _ => (first.to_string(), 1),
        };
        parts.push(part);
        rest = &rest[length..];
    }
    let text = parts.join(",");
    match numbers.as_slice() {
        [first, .., last] if display_width(&text) > MAX_LIST => {
            format!("{} CPUs from {first} to {last}", numbers.len())
        }
        _ => text,
    }
}

/// A shape in lines, broken between its steps.
fn caption(shape: &str, width: usize) -> Vec<String> {
    const NO_BREAK: &str = "\u{a0}";
    let steps: Vec<String> = shape.split(" › ").map(|step| step.replace(' ', NO_BREAK)).collect();
    let lines = wrapped(&steps.join(" › "), width);
    lines.into_iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// Blocks in rows, as many side by side as fit.
fn side_by_side(blocks: Vec<Block>, width: usize) -> Block {
    let mut lines = Vec::new();
    let mut row: Vec<Block> = Vec::new();
    for block in blocks {
        let taken: usize = row.iter().map(|block| block_width(block) + 1).sum();
        if !row.is_empty() && taken + block_width(&block) > width {
            lines.append(&mut joined(&std::mem::take(&mut row)));
        }
        row.push(block);
    }
    lines.append(&mut joined(&row));
    lines
}

/// Blocks beside one another, with a column between them.
fn joined(blocks: &[Block]) -> Block {
    let height = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let parts = blocks.iter().map(|block| padded(block.get(at).map_or("", |l| l), block_width(block)));
        parts.collect::<Vec<_>>().join(" ")
    };
    (0..height).map(line).collect()
}

fn block_width(block: &Block) -> usize {
    block.iter().map(|line| display_width(line)).max().unwrap_or(0)
}

/// All lines as wide as the widest.
fn squared(lines: Block) -> Block {
    let width = block_width(&lines);
    lines.iter().map(|line| padded(line, width)).collect()
}
