//! Several records of one node: the latest is used. Records of one name at one time are of several nodes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use figure::format::plain_to;

use crate::gathered::Gathered;
use crate::parsed::MAX_NAME;
use crate::table::Unused;

/// Keeps one record of each name. Records of one name whose runs overlap are of several machines: each stays, under its file's name.
pub(crate) fn one_each(
    mut nodes: Vec<Gathered>,
    unused: &mut Vec<Unused>,
    notes: &mut Vec<String>,
) -> Vec<Gathered> {
    nodes.sort_by(|a, b| (&a.row.name, b.started, &b.row.file).cmp(&(&b.row.name, a.started, &a.row.file)));
    let mut kept: Vec<Gathered> = Vec::with_capacity(nodes.len());
    for same in chunks(nodes, |a, b| a.row.name == b.row.name) {
        let mut same = if same.len() > 1 { without_copies(same, unused) } else { same };
        if same.windows(2).any(|pair| overlap(&pair[0], &pair[1])) {
            let (name, count) = (same[0].row.name.clone(), same.len());
            notes.push(format!(
                "{count} records are named {name} and overlap in time: they are taken for {count} nodes, named by their files"
            ));
            for node in &mut same {
                node.row.name = plain_to(&format!("{name} ({})", node.row.file), 2 * MAX_NAME);
            }
            kept.append(&mut same);
            continue;
        }
        let mut same = same.into_iter();
        let Some(latest) = same.next() else { continue };
        for earlier in same {
            let why = format!("an earlier record of this node; {} is later", latest.row.file);
            unused.push(Unused { file: earlier.row.file, node: Some(earlier.row.name), why });
        }
        kept.push(latest);
    }
    kept.sort_by(|a, b| a.row.name.cmp(&b.row.name));
    kept
}

/// Leaves out records that are copies of one another.
fn without_copies(same: Vec<Gathered>, unused: &mut Vec<Unused>) -> Vec<Gathered> {
    let mut files = HashMap::new();
    let mut kept = Vec::with_capacity(same.len());
    for node in same {
        match files.entry((node.started, values(&node))) {
            Entry::Vacant(entry) => {
                entry.insert(node.row.file.clone());
                kept.push(node);
            }
            Entry::Occupied(entry) => {
                let why = format!("a copy of {}", entry.get());
                unused.push(Unused { file: node.row.file, node: Some(node.row.name), why });
            }
        }
    }
    kept
}

/// A record's values, as bits.
fn values(node: &Gathered) -> Vec<(u32, u64)> {
    node.cells.iter().map(|(column, _, cell)| (*column, cell.value.to_bits())).collect()
}

/// Whether two records, the later one first, were measured at the same time.
fn overlap(later: &Gathered, earlier: &Gathered) -> bool {
    let (Some(start), Some(before)) = (later.started, earlier.started) else { return false };
    ((start.as_millisecond() - before.as_millisecond()) as f64) < 1e3 * earlier.duration
}

/// Neighbours that belong together, as vectors.
fn chunks<T>(items: Vec<T>, belong: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut chunks: Vec<Vec<T>> = Vec::new();
    for item in items {
        match chunks.last_mut() {
            Some(chunk) if chunk.last().is_some_and(|last| belong(last, &item)) => chunk.push(item),
            _ => chunks.push(vec![item]),
        }
    }
    chunks
}
