//! `vmstat`: swapping, switches and use of the CPUs. Its first row is of the time since boot.

use figure::evidence::audit::UNJUDGED;
use figure::format::number as shown;
use figure::{Figure, Unit};

use super::watched::{Watched, between, clock};
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{begins, first, number};

pub(super) const FORMAT: Format =
    Format::lines("vmstat", &["swpd", "CPU context switches"], starts, Some(&COMMAND), parse);

/// vmstat(8): its operands are an interval and a count.
const COMMAND: Grammar = Grammar {
    programs: &["vmstat"],
    style: Style::Getopt,
    values: &["-S", "--unit", "-p", "--partition"],
    flags: &[
        "-a",
        "--active",
        "-n",
        "--one-header",
        "-t",
        "--timestamp",
        "-w",
        "--wide",
        "-y",
        "--no-first",
        "-s",
        "--stats",
    ],
    hidden: &[],
    operand: |word| word.expands || number(&word.text).is_some(),
    operands: 0..=2,
};

/// Columns, as versions name them.
const COLUMNS: &[&str] = &[
    "r", "b", "w", "swpd", "free", "buff", "cache", "inact", "active", "si", "so", "bi", "bo", "in", "cs",
    "us", "sy", "id", "wa", "st", "gu",
];
/// Rates that become figures: part of the id, name, unit, and the columns that are added up.
const RATES: &[(&str, &str, Unit, &[&str])] = &[
    ("swap-in", "swapped in", Unit::of("KiB/s"), &["si"]),
    ("swap-out", "swapped out", Unit::of("KiB/s"), &["so"]),
    ("switches", "context switches", Unit::PER_S, &["cs"]),
    ("interrupts", "interrupts", Unit::PER_S, &["in"]),
    ("busy", "CPU time in use", Unit::of("%"), &["us", "sy"]),
    ("waiting", "CPU time waiting for disks", Unit::of("%"), &["wa"]),
    ("stolen", "CPU time stolen", Unit::of("%"), &["st"]),
];
/// Shares of the CPU time, which are rounded to whole percents; that of guests may be in that of users.
const SHARES: &[&str] = &["us", "sy", "id", "wa", "st"];
/// By how much five rounded shares and the clock may miss 100.
const ROUNDED: f64 = 5.0;
/// Fewer rows behind a head are no screen: the next head is of another run.
const SCREEN: usize = 10;
/// The most lines of a report that are read.
const MOST_LINES: usize = 100_000;
/// Lines of `vmstat -s` in their order: what they end in.
const TOTALS: &[fn(&str) -> bool] = &[
    |line| is_total(line, "K total memory"),
    |line| is_total(line, "K used memory"),
    |line| is_total(line, SWAPPED_IN),
    |line| is_total(line, SWAPPED_OUT),
    |line| is_total(line, SWITCHES),
];
const SWAPPED_IN: &str = "pages swapped in";
const SWAPPED_OUT: &str = "pages swapped out";
const SWITCHES: &str = "CPU context switches";
const SINCE_BOOT: &str = "this is since boot: run vmstat 1 10";

fn is_total(line: &str, words: &str) -> bool {
    line.strip_suffix(words).is_some_and(|digits| digits.ends_with(' ') && number(digits.trim()).is_some())
}

/// The names of the columns. -t adds one, with the name of a time zone.
fn columns(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let own = words.iter().take_while(|word| COLUMNS.contains(word)).count();
    let is_head = own >= 12 && words.len() <= own + 1 && words.contains(&"swpd") && words.contains(&"cs");
    is_head.then(|| words[..own].to_vec())
}

fn is_head(line: &str) -> bool {
    line.contains("swpd") && columns(line).is_some()
}

/// The numbers of a row, and the time that -t adds; programs that collect rows write it before them.
fn row(line: &str, count: usize) -> Option<(Vec<f64>, Option<f64>)> {
    let behind = line.split_once(' ').filter(|(time, _)| time.contains(':'));
    if let Some((time, rest)) = behind.and_then(|(time, rest)| Some((clock(&[time])?, rest))) {
        return row(rest, count).map(|(numbers, _)| (numbers, Some(time)));
    }
    let words: Vec<&str> = line.split_whitespace().take(count + 3).collect();
    let numbers: Option<Vec<f64>> = words.get(..count)?.iter().map(|word| number(word)).collect();
    let time = words.get(count + 1).and_then(|time| clock(&[time]));
    (words.len() == count || time.is_some() && words.len() == count + 2).then_some((numbers?, time))
}

/// Whether a head repeats the one before, after a screen of rows.
fn repeats(before: &[&str]) -> bool {
    let above = before.iter().rev().filter(|line| !line.is_empty() && !line.contains("procs"));
    above.take(SCREEN).filter(|line| row_of_any(line)).count() == SCREEN
}

/// A row of as many columns as any version has.
fn row_of_any(line: &str) -> bool {
    (14..=20).any(|count| row(line, count).is_some())
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_own = |line: &&str| is_head(line) && !repeats(before);
    rest.first().is_some_and(is_own) || begins(TOTALS, before, rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let Some(names) = run.lines.first().and_then(|line| columns(line)) else { return totals(run) };
    let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut before = None;
    let command = run.command.filter(|command| command.program.starts_with("vmstat"));
    let asked = command.and_then(|command| command.operands.first()).and_then(|word| number(&word.text));
    for line in run.lines.iter().skip(1).take(MOST_LINES) {
        let Some((numbers, time)) = row(line, names.len()) else { continue };
        let seconds = between(before, time);
        before = time;
        rows.push((if seconds > 0.0 { seconds } else { asked.or(known.interval).unwrap_or(0.0) }, numbers));
    }
    if rows.is_empty() {
        return Err("has no row".to_owned());
    }
    let contradiction = rows.iter().find_map(|(_, row)| against_shares(&names, row));
    let has_first = !command.is_some_and(|command| command.has(&["-y", "--no-first"]));
    let since_boot = (has_first && rows.len() == 1).then(|| SINCE_BOOT.to_owned());
    if has_first && rows.len() > 1 {
        rows.remove(0);
    }
    let has_unit = command.is_some_and(|command| command.has(&["-S", "--unit"]));
    let mut figures = Vec::new();
    for (part, name, unit, columns) in RATES {
        let at: Option<Vec<usize>> =
            columns.iter().map(|column| names.iter().position(|own| own == column)).collect();
        let Some(at) = at else { continue };
        let sum = |row: &[f64]| at.iter().map(|at| row.get(*at).copied()).sum::<Option<f64>>();
        let is_other = has_unit && part.starts_with("swap");
        let mut own = Watched::of(
            "vmstat",
            part,
            name,
            if is_other { Unit::of("units of -S/s") } else { unit.clone() },
        );
        own.rows = rows.iter().filter_map(|(seconds, row)| Some((*seconds, sum(row)?))).collect();
        own.since_boot = since_boot.clone();
        own.contradiction = contradiction.clone().filter(|_| unit.symbol() == "%");
        figures.extend(own.figure());
    }
    if let Some(first) = figures.first_mut() {
        first.evidence.put(UNJUDGED, "queues; memory; blocks read and written".to_owned());
    }
    Ok(figures)
}

/// Why the shares of a row cannot be: they do not add up to 100 %.
fn against_shares(names: &[&str], row: &[f64]) -> Option<String> {
    let cell = |name: &&str| row.get(names.iter().position(|own| own == name)?).copied();
    cell(&"id")?;
    let sum: f64 = SHARES.iter().filter_map(cell).sum();
    let guests = cell(&"gu").unwrap_or(0.0);
    (sum > 100.0 + ROUNDED || sum + guests < 100.0 - ROUNDED)
        .then(|| format!("the shares of the CPU time add up to {} %", shown(sum)))
}

/// `vmstat -s`: counts since boot.
fn totals(run: &Run) -> Result<Vec<Figure>, String> {
    let count = |words: &str| number(first(run.lines.iter().find(|line| is_total(line, words))?)?);
    let mut figures = Vec::new();
    for (part, words) in [("swapped-in", SWAPPED_IN), ("swapped-out", SWAPPED_OUT), ("switched", SWITCHES)] {
        let Some(count) = count(words) else { continue };
        let mut own = Watched::of("vmstat", part, &format!("{words} since boot"), Unit::ONE);
        own.rows = vec![(0.0, count)];
        own.since_boot = Some(SINCE_BOOT.to_owned());
        figures.extend(own.figure());
    }
    if figures.is_empty() { Err("has neither rows nor counts of swapping".to_owned()) } else { Ok(figures) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_rows_of_all_widths() {
        let head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st";
        assert_eq!(columns(head.trim()).map(|own| own.len()), Some(17));
        assert_eq!(
            columns("r b swpd free buff cache si so bi bo in cs us sy id wa st gu UTC").map(|own| own.len()),
            Some(18)
        );
        assert_eq!(columns("r b avm fre re pi po fr sr cy in sy cs us sy id wa"), None, "AIX");
        let stamped =
            "2 0 0 22185900 27336 2256764 0 0 1444 1714 736 4483 50 16 34 0 0 0 2026-11-27 07:58:13";
        assert_eq!(row(stamped, 18).map(|(_, time)| time), Some(Some(28693.0)));
        assert_eq!(row("procs ---memory--- ---swap--", 17), None);
    }

    #[test]
    fn shares_are_of_a_hundred() {
        let names: Vec<&str> = "us sy id wa st".split(' ').collect();
        for row in [[78.0, 9.0, 12.0, 1.0, 0.0], [1.0, 0.0, 100.0, 0.0, 0.0], [10.0, 14.0, 76.0, 0.0, 0.0]] {
            assert_eq!(against_shares(&names, &row), None);
        }
        assert!(against_shares(&names, &[78.0, 39.0, 12.0, 1.0, 0.0]).is_some());
        assert!(against_shares(&names, &[8.0, 9.0, 12.0, 1.0, 0.0]).is_some());
    }
}
