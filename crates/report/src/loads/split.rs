//! Where a request's CPU time goes, servers side by side.

use figure::evidence::http as key;
use figure::format::{plain_to, quantity};
use indexmap::IndexMap;
use suites::loads::{self, Load, Quantity};

use super::cells::{or_none, server, three, value};
use crate::tables::{Column, Row, Table};

/// A bucket is shown if it has this share of any server's time.
const LEAST: f64 = 0.01;

/// A table for each number of connections of the saturated load, or that which was asked for.
pub(super) fn buckets<'a>(all: &[Load<'a>]) -> Vec<Table<'a>> {
    let profiled: Vec<&Load> = all
        .iter()
        .filter(|load| load.figure(Quantity::Cpu).is_some_and(|cpu| !cpu.parts.is_empty()))
        .filter(|load| load.profiled(key::PROFILE_SHARES).is_some())
        .collect();
    let mut groups: IndexMap<(String, u64), Vec<&Load>> = IndexMap::new();
    for load in &profiled {
        groups.entry((load.goal(), load.connections.to_bits())).or_default().push(load);
    }
    let mut tables: Vec<Table> = groups.values().map(|group| of_group(group)).collect();
    if let Some(last) = tables.last_mut() {
        last.notes.extend(sampling(&profiled));
    }
    tables
}

/// How far sampling alone may put a bucket from its true share.
fn sampling(profiled: &[&Load]) -> Option<String> {
    let errors = profiled.iter().filter_map(|load| {
        let (_, samples) = load.profiled(key::PROFILE_SHARES)?;
        let cpu = load.figure(Quantity::Cpu)?;
        let errors = cpu.parts.iter().map(|part| loads::sampling_error(part.share, samples));
        Some((errors.fold(0.0, f64::max) * cpu.value?, samples))
    });
    let (most, least) =
        errors.reduce(|(most, least), (error, samples)| (most.max(error), least.min(samples)))?;
    Some(format!(
        "a bucket's share is of profiles of every other round ({} and more): one standard deviation of a number above is at most \
         {} µs; rest: buckets below 1 %; in the kernel: as the kernel booked it",
        quantity(least, "sample"),
        three(most)
    ))
}

fn of_group<'a>(group: &[&Load<'a>]) -> Table<'a> {
    let is_saturated = group[0].goal() == loads::SATURATION;
    let title = format!(
        "Where a request's CPU time goes, {}{} (µs)",
        quantity(group[0].connections, "connection"),
        if is_saturated { ", saturated" } else { "" }
    );
    let heads = group.iter().map(|load| Column::numbers(server(load), 0));
    let columns = [Column::words("bucket", 0)].into_iter().chain(heads).collect();
    let mut table = Table { title, columns, ..Table::default() };
    let part = |load: &Load, name: &str| {
        let cpu = load.figure(Quantity::Cpu)?;
        cpu.parts.iter().find(|part| part.name == name).map(|part| part.value)
    };
    let mut buckets: IndexMap<&str, f64> = IndexMap::new();
    for cpu in group.iter().filter_map(|load| load.figure(Quantity::Cpu)) {
        for one in cpu.parts.iter().filter(|part| part.share >= LEAST) {
            let most = buckets.entry(&one.name).or_insert(one.value);
            *most = most.max(one.value);
        }
    }
    buckets.sort_by(|_, a, _, b| b.total_cmp(a));
    let mut add = |name: String, value: &dyn Fn(&Load) -> Option<f64>| {
        let cells = group.iter().map(|load| or_none(value(load), three));
        table.rows.push(Row::new([name].into_iter().chain(cells)));
    };
    add("all".to_owned(), &|load| value(load, Quantity::Cpu));
    for name in buckets.keys() {
        add(plain_to(name, 32), &|load| Some(part(load, name).unwrap_or(0.0)));
    }
    add("rest".to_owned(), &|load| {
        let shown: f64 = buckets.keys().filter_map(|name| part(load, name)).sum();
        let parts: f64 = load.figure(Quantity::Cpu)?.parts.iter().map(|part| part.value).sum();
        Some((parts - shown).max(0.0))
    });
    add("in the kernel".to_owned(), &|load| {
        let times = load.rate.sum(key::SERVER_USER).and(load.rate.sum(key::SERVER_SYSTEM));
        let (user, system) = times.into_value()?;
        Some(system / (user + system) * value(load, Quantity::Cpu)?)
    });
    table
}
