//! Where a request's CPU time goes, servers side by side.

use figure::evidence::http as key;
use figure::format::{plain_to, quantity};
use suites::loads::{self, Load, Quantity};

use super::{Column, Row, Table, server, three, value};

/// A bucket is told if it has this share of any server's time.
const LEAST: f64 = 0.01;

/// A table for each number of connections of the saturated load, or that which was asked for.
pub(super) fn buckets<'a>(all: &[Load<'a>]) -> Vec<Table<'a>> {
    let profiled: Vec<&Load> = all
        .iter()
        .filter(|load| load.figure(Quantity::Cpu).is_some_and(|cpu| !cpu.parts.is_empty()))
        .filter(|load| load.profiled(key::PROFILE_SHARES).is_some())
        .collect();
    let mut groups: Vec<Vec<&Load>> = Vec::new();
    for load in &profiled {
        let same = |group: &&mut Vec<&Load>| {
            group.first().is_some_and(|one| one.goal() == load.goal() && one.connections == load.connections)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(load),
            None => groups.push(vec![load]),
        }
    }
    let mut tables: Vec<Table> = groups.iter().map(|group| of_group(group)).collect();
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
        let widest =
            cpu.parts.iter().map(|part| loads::sampling_error(part.share, samples)).fold(0.0, f64::max);
        Some((widest * cpu.value?, samples))
    });
    let errors: Vec<(f64, f64)> = errors.collect();
    let most = errors.iter().map(|(error, _)| *error).reduce(f64::max)?;
    let least = errors.iter().map(|(_, samples)| *samples).reduce(f64::min)?;
    let text = format!(
        "a bucket's share is of profiles of every other round ({} and more): one standard deviation of a number above is at most \
         {} µs; rest: buckets below 1 %; in the kernel: as the kernel booked it",
        quantity(least, "sample"),
        three(most)
    );
    Some(text)
}

fn of_group<'a>(group: &[&Load<'a>]) -> Table<'a> {
    let connections = group.first().map_or(0.0, |load| load.connections);
    let title =
        format!("Where a request's CPU time goes, {}, saturated (µs)", quantity(connections, "connection"));
    let heads = group.iter().map(|load| Column::numbers(server(load), 0));
    let first = Column::words("bucket", 0);
    let mut table = Table { title, columns: [first].into_iter().chain(heads).collect(), ..Table::default() };
    if group.first().is_some_and(|load| load.goal() != loads::SATURATION) {
        table.title = table.title.replace(", saturated", "");
    }
    let part = |load: &Load, name: &str| {
        let cpu = load.figure(Quantity::Cpu)?;
        cpu.parts.iter().find(|part| part.name == name).map(|part| (part.value, part.share))
    };
    let mut names: Vec<(&str, f64)> = Vec::new();
    for cpu in group.iter().filter_map(|load| load.figure(Quantity::Cpu)) {
        for one in cpu.parts.iter().filter(|part| part.share >= LEAST) {
            match names.iter_mut().find(|(name, _)| *name == one.name) {
                Some((_, most)) => *most = most.max(one.value),
                None => names.push((&one.name, one.value)),
            }
        }
    }
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut add = |name: String, cell: &dyn Fn(&Load) -> Option<String>| {
        let cells = group.iter().map(|load| cell(load).unwrap_or_else(|| "—".to_owned()));
        table.rows.push(Row { cells: [name].into_iter().chain(cells).collect(), judged: None });
    };
    add("all".to_owned(), &|load| value(load, Quantity::Cpu).map(three));
    for (name, _) in &names {
        add(plain_to(name, 32), &|load| {
            Some(part(load, name).map_or("0".to_owned(), |(value, _)| three(value)))
        });
    }
    add("rest".to_owned(), &|load| {
        let told: f64 = names.iter().filter_map(|(name, _)| part(load, name)).map(|(value, _)| value).sum();
        let parts: f64 = load.figure(Quantity::Cpu)?.parts.iter().map(|part| part.value).sum();
        Some(three((parts - told).max(0.0)))
    });
    add("in the kernel".to_owned(), &|load| {
        let (user, system) =
            load.rate.sum(key::SERVER_USER).and(load.rate.sum(key::SERVER_SYSTEM)).into_value()?;
        Some(three(system / (user + system) * value(load, Quantity::Cpu)?))
    });
    table
}
