//! `pidstat -r`, as text and as JSON: page faults a second of each process.

use figure::evidence::audit::UNJUDGED;
use figure::{Figure, Unit};
use serde_json::Value;

use super::watched::{Watched, between, clock, is_even, is_time};
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::number;

pub(super) const FORMAT: Format = Format::lines("pidstat -r", &["minflt/s"], starts, Some(&COMMAND), parse);
pub(super) const DOCUMENT: Format =
    Format::documents("pidstat -r", &["\"task-memory\""], is_document, Some(&COMMAND), parse_documents);

/// pidstat(1): its operands are an interval and a count.
const COMMAND: Grammar = Grammar {
    programs: &["pidstat"],
    style: Style::Getopt,
    values: &["-p", "-C", "-G", "-T", "-o", "--dec"],
    flags: &["-d", "-H", "-h", "-I", "-l", "-R", "-r", "-s", "-t", "-u", "-v", "-w", "--human"],
    hidden: &[],
    operand: |word| word.expands || number(&word.text).is_some(),
    operands: 0..=2,
};

/// The most processes that become figures.
const MOST: usize = 200;
/// The most lines of reports that are read.
const MOST_LINES: usize = 100_000;
/// No rate is above this.
const MOST_RATE: f64 = 1e15;
/// The longest part of a name in an id.
const LONGEST: usize = 40;
/// From so many seconds since 1970 on the time is one of these (-h before version 12).
const EPOCH: f64 = 1e9;
/// The longest interval that is found from the rates themselves, in hundredths of a second: pidstat divides by whole hundredths.
const LONGEST_INTERVAL: u32 = 1000;
/// By chance no such interval is found more often than this.
const CHANCE: f64 = 0.01;

fn is_head(line: &str) -> bool {
    line.contains("minflt/s") && line.contains("majflt/s") && line.trim_end().ends_with("Command")
}

/// What stands before all reports: `Linux 5.14.0 (host) 02/21/24 _x86_64_ (8 CPU)`.
fn is_banner(line: &str) -> bool {
    line.starts_with("Linux ") && line.ends_with(" CPU)")
}

/// All reports behind a banner are one run.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_first = || {
        !before.iter().rev().find(|line| is_head(line) || is_banner(line)).is_some_and(|line| is_head(line))
    };
    rest.first().is_some_and(|line| is_head(line)) && is_first()
}

/// Where the columns stand, from the first of them (UID) on.
struct Columns {
    count: usize,
    /// The process; of threads (-t) the column of the thread, too.
    pid: usize,
    thread: Option<usize>,
    minor: usize,
    major: usize,
    /// Words of a time before the columns.
    from: usize,
    /// What stands before the columns: the time of the report before; `None` behind -h.
    time: Option<f64>,
}

impl Columns {
    fn of(line: &str) -> Option<Columns> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let from = words.iter().position(|word| matches!(*word, "UID" | "USER"))?;
        let at = |name: &str| words[from..].iter().position(|word| *word == name);
        Some(Columns {
            count: words.len() - from,
            pid: at("PID").or(at("TGID"))?,
            thread: at("TID"),
            minor: at("minflt/s")?,
            major: at("majflt/s")?,
            from: if clock(&words[..from]).is_some() { from } else { 1 },
            time: clock(&words[..from]),
        })
    }

    /// A line of one process; `None` of anything else, threads among them.
    fn row<'a>(&self, line: &'a str) -> Option<Row<'a>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        // The time has as many words as in the head, but for what stands before means.
        let is_timed = words.get(..self.from).is_some_and(|words| words.iter().any(|word| is_time(word)));
        let from = if is_timed { self.from } else { 1 };
        let number_at = |at: usize| words.get(from + at).is_some_and(|word| number(word).is_some());
        let fits = words.len() >= from + self.count && number_at(self.minor) && number_at(self.major);
        fits.then_some(())?;
        let cell = |at: usize| words.get(from + at).copied();
        let is_thread = self.thread.is_some_and(|at| cell(at).is_some_and(|word| !matches!(word, "-" | "0")));
        let pid = cell(self.pid).filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()))?;
        let name = words[from + self.count - 1..].join(" ");
        (!is_thread).then_some(Row {
            is_mean: !words[..from].iter().any(|word| is_time(word)),
            time: clock(&words[..from]).or_else(|| number(words[0]).filter(|time| *time >= EPOCH)),
            pid,
            name,
            minor: number(cell(self.minor)?)?,
            major: number(cell(self.major)?)?,
        })
    }
}

/// A process in a report.
struct Row<'a> {
    /// Whether no time stands before it: `Average:`.
    is_mean: bool,
    time: Option<f64>,
    pid: &'a str,
    name: String,
    minor: f64,
    major: f64,
}

/// What was printed at one time.
#[derive(Default)]
struct Report<'a> {
    /// The time before, where a head shows it.
    from: Option<f64>,
    to: Option<f64>,
    rows: Vec<Row<'a>>,
}

/// The reports, and the means of all.
fn reports<'a>(run: &Run<'a>) -> (Vec<Report<'a>>, Vec<Row<'a>>) {
    let (mut reports, mut means): (Vec<Report>, Vec<Row>) = (Vec::new(), Vec::new());
    let (mut columns, mut is_new): (Option<Columns>, bool) = (None, true);
    for line in run.lines.iter().take(MOST_LINES) {
        // Other tables (-u, -d) have the same first columns.
        if line.ends_with("Command") {
            columns = if is_head(line) { Columns::of(line) } else { None };
            is_new = true;
            continue;
        }
        let Some((columns, row)) = columns.as_ref().and_then(|own| Some((own, own.row(line)?))) else {
            continue;
        };
        if row.is_mean {
            means.push(row);
            continue;
        }
        let other = reports.last().is_none_or(|last| last.to != row.time);
        if is_new || other {
            let from = if is_new { columns.time } else { None };
            reports.push(Report { from, to: row.time, rows: Vec::new() });
            is_new = false;
        }
        if let Some(last) = reports.last_mut() {
            last.rows.push(row);
        }
    }
    (reports, means)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let (reports, means) = reports(run);
    figures(run, &reports, &means, known)
}

/// What was read at each time.
fn statistics(document: &Value) -> impl Iterator<Item = &Value> {
    let hosts = document.pointer("/sysstat/hosts").and_then(Value::as_array).into_iter().flatten();
    hosts.filter_map(|host| host.get("statistics")?.as_array()).flatten().take(MOST_LINES)
}

fn is_document(document: &Value) -> bool {
    statistics(document).any(|own| own.get("task-memory").is_some())
}

fn parse_documents(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let reports: Vec<Report> = documents.iter().flat_map(statistics).filter_map(of_statistics).collect();
    figures(run, &reports, &[], known)
}

/// The processes that were read at one time.
fn of_statistics(own: &Value) -> Option<Report<'_>> {
    let to = own
        .get("timestamp")
        .and_then(Value::as_str)
        .and_then(|time| clock(&time.split_whitespace().collect::<Vec<_>>()));
    let rows = own.get("task-memory")?.as_array()?.iter().filter_map(|row| {
        let word = |name: &str| row.get(name).and_then(Value::as_str);
        let rate = |name: &str| row.get(name)?.as_f64().filter(|rate| (0.0..MOST_RATE).contains(rate));
        if word("TID").is_some_and(|thread| !thread.is_empty()) {
            return None;
        }
        Some(Row {
            is_mean: false,
            time: to,
            pid: word("PID").or(word("TGID"))?,
            name: word("cmd").unwrap_or_default().to_owned(),
            minor: rate("minflt/s")?,
            major: rate("majflt/s")?,
        })
    });
    Some(Report { from: None, to, rows: rows.collect() })
}

fn figures(run: &Run, reports: &[Report], means: &[Row], known: &Known) -> Result<Vec<Figure>, String> {
    if reports.is_empty() && means.is_empty() {
        return Err("has no line of a process".to_owned());
    }
    let asked = run.command.and_then(|command| command.operands.first()).and_then(|word| number(&word.text));
    let mut intervals = Vec::new();
    for (at, report) in reports.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| reports[at].to);
        let seconds = between(report.from.or(before), report.to);
        intervals.push(if seconds > 0.0 { seconds } else { asked.or(known.interval).unwrap_or(0.0) });
    }
    let since_boot = if means.is_empty() { since_boot(run, reports, &mut intervals, known) } else { None };
    let whole = is_even(&intervals);
    let mut processes: Vec<(&str, &str)> = Vec::new();
    for row in reports.iter().flat_map(|report| &report.rows).chain(means) {
        let own = (row.pid, row.name.as_str());
        if !processes.contains(&own) {
            processes.push(own);
        }
        if processes.len() > MOST {
            break;
        }
    }
    let is_one = processes.len() == 1;
    let mut all = Vec::new();
    // The sum over the processes of each report.
    let sum = |rows: &[&Row], major: bool| {
        rows.iter().map(|row| if major { row.major } else { row.minor }).sum::<f64>()
    };
    let mut add = |part: String, name: &str, subject: String, keep: &dyn Fn(&Row) -> bool, major: bool| {
        let mut own = Watched::of("pidstat", &part, name, Unit::PER_S);
        for (report, seconds) in reports.iter().zip(&intervals) {
            let rows: Vec<&Row> = report.rows.iter().filter(|row| keep(row)).collect();
            if !rows.is_empty() {
                own.rows.push((*seconds, sum(&rows, major)));
            }
        }
        let rows: Vec<&Row> = means.iter().filter(|row| keep(row)).collect();
        own.mean = (!rows.is_empty()).then(|| sum(&rows, major));
        own.subject = subject;
        // A process without faults in an interval is not printed.
        own.whole = whole && own.rows.len() == reports.len();
        own.counts_faults = true;
        own.since_boot = since_boot.clone();
        all.extend(own.figure());
    };
    let subject = match processes.first() {
        Some((pid, name)) if is_one => format!("{pid} {name}"),
        _ => String::new(),
    };
    add("minor".to_owned(), "minor faults", subject.clone(), &|_| true, false);
    add("major".to_owned(), "major faults", subject, &|_| true, true);
    if !is_one {
        for (pid, name) in processes.iter().take(MOST) {
            let is_own = |row: &Row| row.pid == *pid && row.name == *name;
            let of = |kind: &str| format!("{kind} faults of {name} ({pid})");
            add(format!("minor.{}-{pid}", word(name)), &of("minor"), String::new(), &is_own, false);
            let reads =
                reports.iter().flat_map(|report| &report.rows).any(|row| is_own(row) && row.major > 0.0);
            if reads {
                add(format!("major.{}-{pid}", word(name)), &of("major"), String::new(), &is_own, true);
            }
        }
    }
    let others = if processes.len() > MOST { "; more than 200 processes" } else { "" };
    if let Some(first) = all.first_mut() {
        first.evidence.put(UNJUDGED, format!("sizes of memory, and columns of other options{others}"));
    }
    Ok(all)
}

/// What an id can hold of a name.
fn word(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let word: String = name.trim_start_matches(['|', '_']).chars().take(LONGEST).map(plain).collect();
    let word = word.trim_matches('-');
    if word.is_empty() { "process".to_owned() } else { word.to_owned() }
}

/// Why a single report may be of the time since boot, which it is without an interval.
fn since_boot(run: &Run, reports: &[Report], intervals: &mut [f64], known: &Known) -> Option<String> {
    let ([report], [interval]) = (reports, intervals) else { return None };
    let boot = "these are means since boot: run pidstat -r 1 10";
    if report.from.is_some() && report.to.is_some() {
        // Since boot the time before is that of the report.
        return (report.from == report.to && known.interval.is_none()).then(|| boot.to_owned());
    }
    if *interval > 0.0 {
        return None;
    }
    if run.command.is_some_and(|command| command.whole && command.operands.is_empty()) {
        return Some(boot.to_owned());
    }
    if let Some(seconds) = of_rates(report.rows.iter().flat_map(|row| [row.minor, row.major])) {
        *interval = seconds;
        return None;
    }
    Some("needs --interval: without an interval pidstat prints means since boot".to_owned())
}

/// The interval in seconds by which all these rates are of whole counts; `None` where one may fit by chance.
fn of_rates(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let mut rates: Vec<f64> = rates.filter(|rate| *rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    (1..=LONGEST_INTERVAL).find_map(|hundredths| {
        let seconds = f64::from(hundredths) / 100.0;
        // Rates are rounded to hundredths.
        let off = 0.005 * seconds;
        let fits = |rate: &f64| (rate * seconds - (rate * seconds).round()).abs() <= off * 1.01 + 1e-9 * rate;
        let chance = (2.0 * off).powi(rates.len().min(64) as i32) * f64::from(hundredths);
        (chance < CHANCE && rates.iter().all(fits)).then_some(seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_follows_from_enough_rates() {
        let stress = [119_244.12, 392_911.76, 1129.41, 0.98, 1129.41];
        assert_eq!(of_rates(stress.into_iter()), Some(1.02));
        assert_eq!(of_rates([1129.41].into_iter()), None);
        assert_eq!(of_rates([3.07, 108.05, 3.44, 19.46, 0.07, 0.14].into_iter()), None);
        assert_eq!(of_rates([].into_iter()), None);
    }

    #[test]
    fn ids_of_names() {
        assert_eq!(
            (word("stress-ng-vm"), word("|__JS Helper"), word("中")),
            ("stress-ng-vm".into(), "js-helper".into(), "process".into())
        );
    }
}
