//! fio's report for people.

use figure::Figure;

use super::{Asked, Job, SYNCHRONOUS, Way, block};
use crate::formats::micro::{Rows, nanoseconds};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, bytes, first, number};

/// Lines of a report between two that it is known by: those of latencies, progress.
const WITHIN: usize = 400;
/// More jobs than anybody reads.
const MOST_JOBS: usize = 200;

/// `randread: (g=0): rw=randread, bs=(R) 4096B-4096B, …, ioengine=libaio, iodepth=32`.
fn is_head(line: &str) -> bool {
    line.contains(": (g=") && line.contains("): rw=") && line.contains("ioengine=")
}

/// `randread: (groupid=0, jobs=1): err= 0: pid=379459: …`.
fn is_job(line: &str) -> bool {
    line.contains(": (groupid=") && line.contains("jobs=")
}

/// `read: IOPS=17.6k, BW=68.9MiB/s (72.3MB/s)(690MiB/10008msec)`; before 2.17
/// `read : io=1040.3MB, bw=106500KB/s, iops=26625, runt= 10002msec`.
fn way(line: &str) -> Option<Way> {
    let kind = super::WAYS.iter().position(|way| line.starts_with(way))?;
    let rest = line[super::WAYS[kind].len()..].trim_start().strip_prefix(':')?.trim_start();
    let own = if rest.starts_with("IOPS=") { new(rest) } else { old(rest) };
    own.map(|way| Way { kind, ..way })
}

/// The line of a group of jobs, `READ: bw=87.0MiB/s (91.2MB/s), …, io=1485MiB (1557MB), run=15593-17073msec`; before 2.17
/// `READ: io=784996KB, aggrb=133661KB/s, …, maxt=5873msec`.
fn status(line: &str) -> Option<Way> {
    let (way, rest) = line.split_once(": ")?;
    let kind = super::WAYS.iter().position(|own| own.to_uppercase() == way)?;
    let (bandwidth, base) = match field(rest, "aggrb=") {
        Some(bandwidth) => (bandwidth, 1024.0),
        None => (field(rest, "bw=")?, 1000.0),
    };
    let time = field(rest, "maxt=").or_else(|| field(rest, "run=")?.split('-').next_back())?;
    Some(Way {
        kind,
        bandwidth: bytes(bandwidth.strip_suffix("/s")?, base),
        bytes: field(rest, "io=").and_then(|text| bytes(text, base)),
        seconds: Some(Printed::of(time.strip_suffix("msec")?)?.times(1e-3)),
        ..Way::default()
    })
}

/// Where reads and writes begin in a line of `--minimal`, version 3, and how many quantiles each has (HOWTO, "Terse output").
const TERSE: [usize; 2] = [5, 46];
const TERSE_QUANTILES: usize = 20;

/// A job in one line of numbers between semicolons.
fn terse(line: &str) -> Option<Job> {
    let cells: Vec<&str> = Some(line).filter(|line| line.starts_with("3;"))?.split(';').take(200).collect();
    let is_own = cells.len() > TERSE[0] + 40 && cells[0] == "3" && cells[1].contains('.');
    let name = cells.get(2).filter(|_| is_own)?;
    let way = |(kind, from): (usize, &usize)| {
        let of = |at: usize| Printed::of(cells.get(from + at)?);
        let bytes = of(0).filter(|bytes| bytes.value > 0.0)?;
        let samples = |at: usize| Statistics {
            least: of(at).map(|time| time.times(1e-6)),
            mean: of(at + 2).map(|time| time.times(1e-6)),
            most: of(at + 1).map(|time| time.times(1e-6)),
            deviation: of(at + 3).map(|time| time.times(1e-6)),
            quantiles: Vec::new(),
        };
        let share = |at: usize| {
            let (share, value) = cells.get(from + at)?.split_once("%=")?;
            let share = number(share).filter(|share| *share > 0.0)?;
            Some(((share * 1e4).round() / 1e6, Printed { off: 1.0, ..Printed::of(value)? }.times(1e-6)))
        };
        let mut sent = samples(8);
        sent.quantiles = (12..12 + TERSE_QUANTILES).filter_map(share).collect();
        Some(Way {
            kind,
            // Both are cut to whole numbers.
            rate: of(2).map(|rate| Printed { off: 1.0, ..rate }),
            bandwidth: of(1).map(|rate| Printed { off: 1.0, ..rate }.times(1024.0)),
            bytes: Some(bytes.times(1024.0)),
            requests: None,
            seconds: of(3).map(|time| time.times(1e-3)),
            whole: samples(32),
            sent,
            is_of_whole: false,
        })
    };
    let ways: Vec<Way> = TERSE.iter().enumerate().filter_map(way).collect();
    Some(Job { name: (*name).to_owned(), jobs: 1.0, asked: Asked::default(), ways })
        .filter(|job| !job.ways.is_empty())
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(name)?.1.trim_start();
    rest.split([',', ' ', '(', ';']).next()
}

fn new(rest: &str) -> Option<Way> {
    let totals = rest.split('(').nth(2).or(rest.split('(').nth(1)).and_then(|part| part.split(')').next());
    let (all, time) =
        totals.and_then(|totals| totals.split_once('/')).filter(|(_, time)| time.ends_with("msec")).unzip();
    // sysbench fileio prints IOPS too, and no BW.
    let bandwidth = field(rest, "BW=")?.strip_suffix("/s").and_then(|text| bytes(text, 1000.0));
    Some(Way {
        rate: Some(thousands(field(rest, "IOPS=")?)?),
        bandwidth,
        bytes: all.and_then(|all| bytes(all, 1000.0)),
        seconds: time.and_then(|time| Some(Printed::of(time.strip_suffix("msec")?)?.times(1e-3))),
        ..Way::default()
    })
}

/// Before 2.17 KB were of 1024 bytes, and small rates are not rounded to three digits.
fn old(rest: &str) -> Option<Way> {
    Some(Way {
        rate: Some(thousands(field(rest, "iops=")?)?),
        bandwidth: field(rest, "bw=").and_then(|text| bytes(text.strip_suffix("/s")?, 1024.0)),
        bytes: field(rest, "io=").and_then(|text| bytes(text, 1024.0)),
        seconds: field(rest, "runt=")
            .and_then(|text| Some(Printed::of(text.strip_suffix("msec")?)?.times(1e-3))),
        ..Way::default()
    })
}

/// `17.6k`, `26625`; fio cuts digits off, and rounds none up.
fn thousands(text: &str) -> Option<Printed> {
    bytes(text, 1000.0).map(|count| Printed { off: 2.0 * count.off, ..count })
}

pub(super) fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if terse(line).is_some() {
        return before.last().is_none_or(|line| terse(line).is_none());
    }
    let kind = |line: &str| {
        let is = [is_head(line), is_job(line), way(line).is_some(), status(line).is_some()];
        is.iter().position(|is| *is)
    };
    let Some(own) = kind(line) else { return false };
    if own == 3 {
        // A group without its jobs. Its lines follow one another: others are of another group, or of another run.
        let near = before.iter().rev().take(WITHIN);
        return !near.into_iter().any(|line| matches!(kind(line), Some(1 | 2)))
            && before.last().is_none_or(|line| kind(line) != Some(3));
    }
    let nearest = before.iter().rev().take(WITHIN).find_map(|line| kind(line));
    let begins = match own {
        0 => nearest.is_none_or(|nearest| nearest != 0),
        _ => nearest.is_none(),
    };
    begins && rest.iter().take(WITHIN).any(|line| way(line).is_some())
}

/// What the head of a job says.
fn asked(line: &str) -> Asked {
    let block = |text: &str| {
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        let (least, most) = (block(least)?, block(most)?);
        (least == most && least > 0.0).then_some(least)
    };
    let mut own = Asked {
        engine: field(line, "ioengine=").map(str::to_owned),
        depth: field(line, "iodepth=").and_then(number),
        ..Asked::default()
    };
    for (kind, mark) in ["(R) ", "(W) ", "(T) "].iter().enumerate() {
        own.block[kind] = field(line, mark).and_then(block);
    }
    // Before 2.17: `bs=4K-4K/4K-4K/4K-4K`.
    if own.block.iter().all(Option::is_none)
        && let Some(all) = field(line, "bs=")
    {
        for (kind, part) in all.split('/').take(3).enumerate() {
            own.block[kind] = block(part);
        }
    }
    own
}

/// `clat (usec): min=128, max=10852, avg=1801.11, stdev=2899.95`: which, and in seconds.
fn latency(line: &str) -> Option<(&str, Statistics)> {
    let (name, rest) = line.split_once('(')?;
    let (unit, rest) = rest.split_once("):")?;
    let of = |name: &str| Some(bytes(field(rest, name)?, 1000.0)?.times(seconds(unit.trim())?));
    let mean = of("avg=")?;
    let name = name.trim();
    let own = Statistics {
        least: of("min="),
        mean: Some(mean),
        most: of("max="),
        deviation: of("stdev="),
        quantiles: Vec::new(),
    };
    ["slat", "clat", "lat"].contains(&name).then_some((name, own))
}

/// `usec`: in seconds.
fn seconds(unit: &str) -> Option<f64> {
    nanoseconds(unit.strip_suffix("ec")?).map(|unit| unit * 1e-9)
}

/// `|  1.00th=[  302],  5.00th=[  343]`, whose bar is off: quantiles, without a unit.
fn quantiles(line: &str) -> Vec<(f64, Printed)> {
    let of = |part: &str| {
        let (quantile, value) = part.split_once("th=[")?;
        let quantile = quantile.rsplit([',', ' ', '|']).next()?;
        let quantile = (number(quantile)? * 1e4).round() / 1e6;
        Some((quantile, Printed::of(value.split(']').next()?.trim().trim_start_matches('>'))?))
    };
    line.split("],").filter_map(of).collect()
}

pub(super) fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let heads = run.lines.iter().filter(|line| is_head(line));
    let heads: Vec<(&str, Asked)> = heads
        .filter_map(|line| Some((line.split_once(": (g=")?.0, asked(line).with(run.command))))
        .take(MOST_JOBS)
        .collect();
    let mut jobs: Vec<Job> = Vec::new();
    // The unit of quantiles that are to come, and whether they are of `lat`.
    let mut coming: Option<(f64, bool)> = None;
    let mut is_of_syncs = false;
    for line in run.lines {
        is_of_syncs &= !is_job(line);
        if is_job(line) && jobs.len() < MOST_JOBS {
            let name = line.split_once(": (groupid=").map_or("", |(name, _)| name);
            let asked = heads.iter().find(|(own, _)| *own == name).map(|(_, asked)| asked.clone());
            let count = field(line, "jobs=").and_then(|text| number(text.trim_end_matches([')', ':'])));
            jobs.push(Job {
                name: name.to_owned(),
                jobs: count.filter(|count| *count >= 1.0).unwrap_or(1.0),
                asked: asked.unwrap_or_else(|| Asked::default().with(run.command)),
                ways: Vec::new(),
            });
        } else if let Some(way) = way(line) {
            if jobs.is_empty() {
                let asked = Asked::default().with(run.command);
                jobs.push(Job { name: "job".to_owned(), jobs: 1.0, asked, ways: Vec::new() });
            }
            jobs.last_mut().into_iter().for_each(|job| job.ways.push(way.clone()));
            (coming, is_of_syncs) = (None, false);
        } else if line.starts_with("fsync/") {
            // What waits for the device is in no latency of the writes.
            jobs.last_mut().into_iter().for_each(|job| job.asked.is_limited = Some(true));
            coming = None;
            is_of_syncs = true;
        } else if line.starts_with("Run status group") || line.starts_with("cpu ") {
            coming = None;
        } else if let Some(own) = jobs.last_mut().and_then(|job| job.ways.last_mut()).filter(|_| !is_of_syncs)
        {
            if let Some((name, statistics)) = latency(line) {
                let place = match name {
                    "lat" => &mut own.whole,
                    "clat" => &mut own.sent,
                    _ => continue,
                };
                if place.mean.is_none() {
                    *place = Statistics { quantiles: std::mem::take(&mut place.quantiles), ..statistics };
                }
            } else if let Some((name, rest)) = line.split_once(" percentiles (") {
                coming = rest.split(')').next().and_then(seconds).map(|unit| (unit, name.trim() == "lat"));
                own.is_of_whole |= coming.is_some_and(|(_, is_of_whole)| is_of_whole);
            } else if let Some((unit, is_of_whole)) = coming {
                let place = if is_of_whole { &mut own.whole } else { &mut own.sent };
                // Each is the middle of a bucket, rounded up (stat.c).
                let of = |(quantile, value): (f64, Printed)| {
                    (quantile, Printed { off: 2.0 * value.off, ..value }.times(unit))
                };
                place.quantiles.extend(quantiles(line).into_iter().map(of));
            }
        }
    }
    jobs.extend(run.lines.iter().filter_map(|line| terse(line)).take(MOST_JOBS));
    if jobs.is_empty() {
        let asked = Asked::default().with(run.command);
        let ways: Vec<Way> = run.lines.iter().filter_map(|line| status(line)).take(MOST_JOBS).collect();
        let head = run.before.last().and_then(|line| line.strip_prefix("Run status group "));
        let name = match head.and_then(first) {
            Some(number) if number != "0" => format!("group {number}"),
            _ => "group".to_owned(),
        };
        jobs.extend(Some(Job { name, jobs: 1.0, asked, ways }).filter(|job| !job.ways.is_empty()));
    }
    let mut rows = Rows::default();
    let capped = run.lines.iter().any(|line| line.contains("queue depth will be capped at 1"));
    for job in &jobs {
        if capped || job.asked.is_of(SYNCHRONOUS) {
            rows.note("a synchronous engine has one request in flight for each job");
        }
    }
    numbered(jobs).iter().for_each(|job| job.figures(&mut rows, known));
    rows.note("depths and latencies by classes, CPU use, disk statistics");
    rows.figures("has no line of IOPS")
}

/// Jobs of the same name ran at once, and are no rounds of one another.
pub(super) fn numbered(mut jobs: Vec<Job>) -> Vec<Job> {
    let names: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    for (at, job) in jobs.iter_mut().enumerate() {
        let before = names[..at].iter().filter(|name| **name == job.name).count();
        if before > 0 {
            job.name = format!("{} ({})", job.name, before + 1);
        }
    }
    jobs
}
