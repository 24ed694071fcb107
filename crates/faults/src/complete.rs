//! The figures of a watched program. Pure.

use figure::evidence::*;
use figure::series::{Column, MAX_TIMELINE_POINTS, Part, Timeline};
use figure::{Basis, Better, Evidence, Figure, Reading, Round, Status, Unit, stats};
use suites::faults::{Manager, Mechanism};
use suites::mechanisms::at_most_in_kernel;

use crate::allocator;
use crate::prices::catalogue;
use crate::prices::plan::series_id;
use crate::rates::Row;
use crate::settings::{self, Build, PREFIXES};
use crate::watch::{Watched, Window};
use crate::{COVERAGE, GAIN, HUGE_PRICE, MAJOR, MINOR, PRICE, SLOWDOWN, SUITE};

/// Seconds of a window if there is enough time: a rate over a tenth of a second is not steady.
const USUAL: f64 = 1.0;
/// Windows that are aimed at: an interval needs 6.
const WANTED: f64 = 8.0;

const MOST_ROWS: usize = 20;

/// The figures: the cost of page faults, rates, coverage, what the worker observed; and `prices`, which are
/// those of a minor fault and of watching.
pub fn figures(watched: Watched, program: &str, prices: Vec<Figure>) -> Vec<Figure> {
    let mut windows = merge_windows(&watched.windows, watched.seconds);
    if windows.is_empty() {
        windows = watched.windows.clone();
    }
    let mut minor = rate(&watched, &windows, MINOR, "minor faults", |window| window.used.minor);
    let mut major = rate(&watched, &windows, MAJOR, "major faults", |window| window.used.major);
    minor.timeline = Some(timeline(&windows));
    minor.parts = parts(&watched, |row| row.minor);
    major.parts = parts(&watched, |row| row.major);
    let mut figures =
        vec![gain(&watched, &prices), minor, major, coverage(&watched), slowdown(&watched, &prices)];
    let trouble = watched.facts.as_ref().err().cloned();
    if let Ok(facts) = watched.facts {
        figures.extend(facts.discovered);
    }
    if let Some(blocks) = &watched.blocks {
        blocks.complete(&mut figures, trouble.as_ref());
    }
    let sites = sites(&figures);
    figures.iter_mut().for_each(|figure| advise(figure, &sites));
    for figure in &mut figures {
        if figure.conditions.get(WATCHED).is_none() {
            figure.conditions.set(WATCHED, program.to_owned());
        }
    }
    figures.extend(prices);
    figures
}

/// The function from which most faults of each mechanism come, in each program.
fn sites(figures: &[Figure]) -> Vec<(String, String, String)> {
    // By rank: the first of a mechanism has most of its faults.
    let sites = figures.iter().filter(|figure| figure.series.as_deref() == Some("faults.sites"));
    let site = |figure: &Figure| {
        let conditions = &figure.conditions;
        Some((conditions.get(MECHANISM)?, conditions.get(WATCHED)?, conditions.get(SITE_FUNCTION)?))
    };
    sites.filter_map(site).collect()
}

/// The manager of a mechanism's memory, as it was built into the program.
pub fn build(figure: &Figure) -> Option<Build> {
    let manager = figure.conditions.get(MANAGER).and_then(|word| Manager::of(&word))?;
    let version = figure.conditions.get(MANAGER_VERSION).and_then(|text| allocator::number(&text));
    let prefix = figure.conditions.get(MANAGER_PREFIX);
    let prefix = PREFIXES.iter().find(|one| prefix.as_deref() == Some(one));
    Some(Build { manager, version, prefix: prefix.unwrap_or(&"") })
}

/// Bytes of the blocks that are faulted in; 0 if it is not known.
pub fn block(figure: &Figure) -> f64 {
    let blocks = [FAULT_BLOCK, BLOCK_MAPPED].map(|key| figure.evidence.get(key));
    blocks.iter().filter_map(Reading::value).copied().fold(0.0, f64::max)
}

/// Adds the setting that may help against a mechanism: the first with a bound that can be set from outside and is
/// no part, else code, and where it goes. Whether it helps must be proved.
fn advise(figure: &mut Figure, sites: &[(String, String, String)]) {
    let mechanism = figure.conditions.get(MECHANISM).and_then(|word| Mechanism::of(&word));
    let Some(mechanism) = mechanism.filter(|_| figure.series.is_none()) else { return };
    let build = build(figure).unwrap_or(Build::newest(Manager::Program));
    let mut settings = settings::against(&build, mechanism);
    let there = figure.conditions.get(MANAGER_SETTINGS).unwrap_or_default();
    let is_there = |word: &str| there.split(", ").any(|there| there == word);
    settings.retain(|setting| setting.reaches(block(figure), build.version) && !is_there(setting.word));
    let outside = settings
        .iter()
        .find(|setting| setting.is_set_from_outside() && setting.is_bounded && !setting.is_part);
    let Some(setting) = outside.or(settings.first()) else { return };
    let variables: Vec<String> = setting
        .way(build.version)
        .map(|way| settings::environment(way, &build, |_| None))
        .unwrap_or_default()
        .into_iter()
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
        .collect();
    let watched = figure.conditions.get(WATCHED);
    let is_here = |(cause, program, _): &&(String, String, String)| {
        cause == mechanism.word() && Some(program) == watched.as_ref()
    };
    // A program's start is faults of its loader and its libraries: they are not what to change.
    let has_site = variables.is_empty() && mechanism != Mechanism::StartUp;
    if let Some((_, _, function)) = sites.iter().find(is_here).filter(|_| has_site) {
        figure.conditions.set(SETTING_SITE, function.clone());
    }
    figure.conditions.merge(setting.conditions(variables.join(" ")));
}

/// Merges windows to the usual length: shorter if the whole is short, longer if there would be too many.
fn merge_windows(windows: &[Window], seconds: f64) -> Vec<Window> {
    let length = (seconds / WANTED).min(USUAL).max(seconds / MAX_TIMELINE_POINTS as f64);
    let mut all: Vec<Window> = Vec::new();
    let mut is_full = true;
    for window in windows {
        match all.last_mut() {
            Some(last) if !is_full => {
                last.used = last.used.plus(&window.used);
                (last.end, last.seconds) = (window.end, last.seconds + window.seconds);
                last.reading = window.reading.clone();
            }
            _ => all.push(window.clone()),
        }
        is_full = all.last().is_some_and(|last| last.seconds >= length * 0.95);
    }
    // A shorter rest is no window.
    if all.len() > 1 && !is_full {
        all.pop();
    }
    all
}

fn rate(watched: &Watched, windows: &[Window], id: &str, name: &str, count: fn(&Window) -> f64) -> Figure {
    let mut figure = Figure::planned(id, SUITE, name, Unit::PER_S, Better::Lower);
    figure.rounds = windows
        .iter()
        .filter(|window| window.seconds > 0.0)
        .map(|window| {
            let mut evidence = Evidence::default();
            evidence.put(FAULT_MINOR, window.used.minor);
            evidence.put(FAULT_MAJOR, window.used.major);
            evidence.put(COPY_USER, window.used.user);
            evidence.put(COPY_SYSTEM, window.used.system);
            let rate = count(window) / window.seconds;
            Round::new(watched.started.clone(), window.seconds, vec![rate], evidence)
        })
        .collect();
    figure.summarise();
    figure.best = None;
    let totals = &watched.totals;
    figure.evidence.put(FAULT_TOTAL, totals.minor);
    figure.evidence.put(FAULT_MAJORS, totals.major);
    figure.evidence.put(PROGRAM_USER, totals.user);
    figure.evidence.put(PROGRAM_SYSTEM, totals.system);
    figure.evidence.put(PROGRAM_SECONDS, watched.seconds);
    let peak = watched.windows.iter().map(|window| window.reading.totals.resident).fold(0.0, f64::max);
    let peak =
        Reading::or_unknown(Some(peak).filter(|bytes| *bytes > 0.0), "it ended before the first sample");
    figure.evidence.put_reading(PROGRAM_RESIDENT, peak);
    if let Some(ended) = &watched.ended {
        figure.evidence.put(PROGRAM_ENDED, ended.clone());
    }
    figure
}

/// A rate by process, `PID NAME`: its faults without its children's.
fn parts(watched: &Watched, count: fn(&Row) -> f64) -> Vec<Part> {
    let all: f64 = watched.rows.iter().map(count).sum();
    let part = |row: &Row| Part {
        name: format!("{} {}", row.process, figure::format::plain_to(&row.name, 40)),
        value: count(row) / watched.seconds.max(1e-9),
        share: if all > 0.0 { count(row) / all } else { 0.0 },
    };
    watched.rows.iter().take(MOST_ROWS).map(part).collect()
}

/// The share of the faults that samples represent, by the kernel's counters.
fn coverage(watched: &Watched) -> Figure {
    let name = "faults that samples stand for";
    let mut figure = Figure::planned(COVERAGE, SUITE, name, Unit::ONE, Better::Higher);
    let facts = match &watched.facts {
        Ok(facts) => facts,
        Err(reason) => return figure.not_available(format!("where faults come from: {reason}")),
    };
    let count = |key| facts.evidence.get(key).into_value().unwrap_or(0.0);
    let majors = count(FAULT_MAJORS);
    let share = ((count(FAULT_SEEN) + majors) / (watched.totals.minor + majors).max(1.0)).min(1.0);
    let interval = stats::share_interval(share, (count(FAULT_SAMPLES) + majors) as usize);
    (figure.value, figure.interval) = (Some(share), interval);
    (figure.status, figure.reason, figure.basis) = (Status::Measured, None, Basis::Observations);
    figure.evidence.merge(facts.evidence.clone());
    figure.evidence.put(FAULT_TOTAL, watched.totals.minor);
    figure
}

fn timeline(windows: &[Window]) -> Timeline {
    let column = |name: &str, unit: Unit, value: fn(&Window) -> f64| Column {
        name: name.to_owned(),
        unit,
        values: windows.iter().map(|window| Some(value(window)).filter(|value| value.is_finite())).collect(),
    };
    Timeline {
        seconds: windows.iter().map(|window| window.end).collect(),
        columns: vec![
            column("minor", Unit::PER_S, |window| window.used.minor / window.seconds),
            column("major", Unit::PER_S, |window| window.used.major / window.seconds),
            column("user", Unit::ONE, |window| window.used.user / window.seconds),
            column("system", Unit::ONE, |window| window.used.system / window.seconds),
            column("resident", Unit::BYTES, |window| window.reading.totals.resident),
            column("processes", Unit::ONE, |window| window.reading.processes as f64),
            column("threads", Unit::ONE, |window| window.reading.threads as f64),
        ],
    }
}

/// Minor faults that each brought a huge page; `None` if that was not observed.
pub fn huge(watched: &Watched) -> Option<f64> {
    watched.facts.as_ref().ok()?.evidence.get(FAULT_HUGE).into_value()
}

/// The cost of all minor faults, by the prices in a loop on this machine of one and of one of a huge page, as a share of the CPU time.
fn gain(watched: &Watched, prices: &[Figure]) -> Figure {
    let mut figure =
        Figure::planned(GAIN, SUITE, "what page faults cost, of the CPU time", Unit::ONE, Better::Neither);
    let (cpu, minor) = (watched.totals.cpu(), watched.totals.minor);
    if cpu <= 0.0 {
        return figure.not_available("the program used no CPU time that the kernel's clock ticks could see");
    }
    let price = |id| prices.iter().find(|figure| figure.id == id && figure.value.is_some());
    let Some(small) = price(PRICE) else {
        return figure.not_available("the price of a fault is not known");
    };
    let large = price(HUGE_PRICE);
    let huge = huge(watched).ok_or("huge pages were not observed");
    let huge = huge.and_then(|huge| match large.and_then(|large| large.value) {
        _ if huge < 1.0 => Ok(0.0),
        None => Err("the price of a huge page is not known"),
        // The kernel may count those of other programs, too.
        Some(micros) => Ok(huge.min(minor).min(at_most_in_kernel(watched.totals.system) / (micros * 1e-6))),
    });
    let large = large.filter(|_| huge.is_ok_and(|huge| huge > 0.0));
    let micros = large.map_or_else(|| vec![0.0], Figure::kept_values);
    let large_rounds: Vec<f64> = micros.iter().map(|micros| micros * 1e3).collect();
    let (shares, by_huge) = costs((minor, huge.unwrap_or(0.0)), (&small.kept_values(), &large_rounds), cpu);
    let prices: Vec<&Figure> = [Some(small), large].into_iter().flatten().collect();
    figure.derive(&shares, &prices);
    figure.evidence.put(FAULT_TOTAL, minor);
    figure.evidence.put_reading(FAULT_HUGE, huge.map_or_else(Reading::unknown, Reading::Value));
    figure.evidence.put(GAIN_HUGE, by_huge);
    figure.evidence.put(PROGRAM_CPU, cpu);
    figure.evidence.put(PROGRAM_SYSTEM, watched.totals.system);
    figure
}

/// What so many faults, and of them so many of huge pages, cost by the rounds of their prices (ns), of `cpu` seconds: a share for each
/// round, 0 to 1; and the share of this that those of huge pages cost.
fn costs((minor, huge): (f64, f64), (small, large): (&[f64], &[f64]), cpu: f64) -> (Vec<f64>, f64) {
    let parts: Vec<(f64, f64)> = small
        .iter()
        .zip(large.iter().cycle())
        .map(|(small, large)| ((minor - huge) * small * 1e-9 / cpu, huge * large * 1e-9 / cpu))
        .collect();
    let (small, large) =
        parts.iter().fold((0.0, 0.0), |(small, large), part| (small + part.0, large + part.1));
    let by_huge = if large > 0.0 { large / (small + large) } else { 0.0 };
    (parts.iter().map(|(small, large)| (small + large).min(1.0)).collect(), by_huge)
}

/// What watching added to the program's CPU time: the prices of events, times their numbers.
fn slowdown(watched: &Watched, prices: &[Figure]) -> Figure {
    let name = "what watching added to the CPU time";
    let mut figure = Figure::planned(SLOWDOWN, SUITE, name, Unit::ONE, Better::Lower);
    let facts = match &watched.facts {
        Ok(facts) => facts,
        Err(reason) => return figure.not_available(format!("the kernel's events were not used: {reason}")),
    };
    let count = |key| facts.evidence.get(key).into_value().unwrap_or(0.0);
    let is_machine = facts.evidence.get(WATCH_MACHINE).into_value() == Some(true);
    let switches = watched.switches.filter(|_| !is_machine).unwrap_or(0.0);
    let in_windows = count(FAULT_IN_WINDOWS);
    let outside = (count(FAULT_COUNTED) - in_windows).max(0.0);
    // An error code is a record without a stack, too.
    let in_bursts = count(FAULT_BURST) + count(FAULT_CODES);
    let counts = [in_windows, count(FAULT_SAMPLES), in_bursts, switches, outside];
    let cpu = watched.totals.cpu();
    let priced = |word: &str| prices.iter().find(|figure| figure.id == series_id(word));
    let Some(prices) = catalogue::WATCHED.iter().map(|word| priced(word)).collect::<Option<Vec<_>>>() else {
        return figure.not_available("what watching costs is not known");
    };
    let rounds: Vec<Vec<f64>> = prices.iter().map(|price| price.kept_values()).collect();
    let shares: Vec<f64> = (0..rounds.iter().map(Vec::len).min().unwrap_or(0))
        .filter_map(|round| {
            // A price that is close to 0 may be measured below it.
            let added: f64 =
                rounds.iter().zip(counts).map(|(price, count)| price[round].max(0.0) * 1e-9 * count).sum();
            (cpu > added).then(|| added / (cpu - added))
        })
        .collect();
    if figure.derive(&shares, &prices).is_none() {
        return figure.not_available("the program used too little CPU time");
    }
    figure.evidence.put(FAULT_COUNTED, count(FAULT_COUNTED));
    figure.evidence.put(FAULT_IN_WINDOWS, in_windows);
    figure.evidence.put(FAULT_SAMPLES, counts[1]);
    figure.evidence.put(FAULT_BURST, count(FAULT_BURST));
    figure.evidence.put(FAULT_CODES, count(FAULT_CODES));
    let unknown = || Reading::unknown("its tasks could not be read");
    figure.evidence.put_reading(PROGRAM_SWITCHES, watched.switches.map_or_else(unknown, Reading::Value));
    figure.evidence.put(PROGRAM_CPU, cpu);
    figure
}

#[cfg(test)]
mod unit {
    use lab::process_tree::Usage;
    use lab::worker::WorkerReport;

    use super::*;

    fn price(id: &str, unit: Unit, values: &[f64]) -> Figure {
        let mut figure = Figure::planned(id, SUITE, id, unit, Better::Lower);
        let round = |value: &f64| Round::new(String::new(), 0.1, vec![*value], Evidence::default());
        figure.rounds = values.iter().map(round).collect();
        figure.summarise();
        figure
    }

    /// A million faults in 5 s of CPU time, so many of them of huge pages, where that was observed.
    fn watched(huge: Option<f64>, system: f64) -> Watched {
        let facts = huge.map(|huge| {
            let mut report = WorkerReport::default();
            report.evidence.put(FAULT_HUGE, huge);
            report
        });
        Watched {
            started: String::new(),
            seconds: 5.0,
            windows: Vec::new(),
            totals: Usage { user: 5.0 - system, system, minor: 1e6, ..Usage::default() },
            switches: None,
            status: None,
            ended: None,
            facts: facts.ok_or(lab::failure::Failure::new("no rights")),
            rows: Vec::new(),
            blocks: None,
            interrupted: None,
        }
    }

    #[test]
    fn faults_cost_their_number_times_their_price() {
        let small = price(PRICE, Unit::NANOSECONDS, &[500.0; 6]);
        let large = price(HUGE_PRICE, Unit::of("µs"), &[100.0; 6]);
        let none = price(HUGE_PRICE, Unit::of("µs"), &[]);
        let cost = |huge, system, prices: &[&Figure]| {
            let prices: Vec<Figure> = prices.iter().map(|price| (*price).clone()).collect();
            let figure = gain(&watched(huge, system), &prices);
            let of =
                |key| figure.evidence.get(key).into_value().map(|value: f64| (value * 1e3).round() / 1e3);
            (figure.value.map(|value| (value * 1e4).round() / 1e4), of(FAULT_HUGE), of(GAIN_HUGE))
        };
        assert_eq!(cost(Some(0.0), 4.0, &[&small]), (Some(0.1), Some(0.0), Some(0.0)));
        assert_eq!(cost(Some(1e4), 4.0, &[&small, &large]), (Some(0.299), Some(1e4), Some(0.669)));
        // Not observed, or without a price: as if all were small, and the number is unknown.
        assert_eq!(cost(None, 4.0, &[&small]), (Some(0.1), None, Some(0.0)));
        for prices in [&[&small][..], &[&small, &none]] {
            assert_eq!(cost(Some(1e4), 4.0, prices), (Some(0.1), None, Some(0.0)));
        }
        assert_eq!(cost(Some(1e4), 4.0, &[&large]), (None, None, None));
        // The others' huge pages: they cannot have cost more than was spent in the kernel, 0.5 s and its error.
        let (_, counted, _) = cost(Some(1e5), 0.5, &[&small, &large]);
        assert_eq!(counted, Some(6428.286));
    }

    #[test]
    fn rounds_of_one_price_are_taken_again_where_the_other_has_more() {
        let (shares, by_huge) = costs((1e6, 1e4), (&[500.0, 600.0, 500.0], &[1e5, 2e5]), 5.0);
        let shares: Vec<f64> = shares.iter().map(|share| (share * 1e4).round() / 1e4).collect();
        assert_eq!(shares, [0.299, 0.5188, 0.299]);
        assert!((by_huge - 0.8 / 1.1168).abs() < 1e-3, "{by_huge}");
    }
}
