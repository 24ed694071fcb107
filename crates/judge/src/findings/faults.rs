//! What a program's page faults cost, why it takes them, and what may be done.

use figure::{Outcome, format};
use suites::faults::{Call, Manager, Mechanism};
use suites::mechanisms::{Cost, LEAST, advisable, decided, is_worth, leading, notable};
use suites::settings::{Quantity, trial};

use super::settings::{self, command, gain};
use super::support::*;
use crate::cases::faults;
use crate::explain::mechanism;
use crate::explain::prices::{find, in_seconds, ratio};

/// Seconds of CPU time from which on clock ticks resolve the kernel's share of it: some dozens of ticks.
const RESOLVED: f64 = 0.2;
/// Seconds of counting in which a mechanism that matters makes at least one call.
const LONG: f64 = 1.0;
/// A block that is faulted in within so many seconds of its allocation is young: it was allocated to be filled.
const YOUNG: f64 = 0.1;
/// Blocks of which such a share is freed come and go.
const MOSTLY: f64 = 0.5;
/// Mechanisms that one sentence names.
const SHOWN: usize = 3;
/// The rate at which a program is usually called sick; the wording names it, too.
const RATE: f64 = 10_000.0;
/// The share of a CPU that the study's server spent in the kernel; the wording names it, too.
const SHARE: f64 = 0.20;

/// All findings about a program that was watched, the answer first.
pub(super) fn watched(record: &Record) -> Vec<Explanation> {
    let Some(counted) = gain(record).or_else(|| measured(record, "faults.minor")) else { return Vec::new() };
    let mechanisms = notable(&record.figures);
    let leading = leading(&mechanisms);
    let main = decided(&leading);
    let little = cost(record).filter(|cost| cost.is_little());
    let answer = match gain(record) {
        Some(gain) => answer(record, gain, main, little),
        None => unpriced(counted, main),
    };
    let mut all = Vec::from_iter(answer);
    all.extend(undecided(&leading).filter(|_| little.is_none()));
    for figure in mechanisms {
        let case = mechanism::mechanism(figure);
        all.extend(case.map(|case| note("mechanism", case, &[figure])));
        all.extend(calls(record, figure));
    }
    all.extend(blocks(record));
    all.extend(advisable(&leading).filter(|figure| is_open(record, figure)).and_then(to_try));
    all
}

/// Whether a change against a mechanism may help, and none was tried.
fn is_open(record: &Record, mechanism: &Figure) -> bool {
    trial(record).is_none() && is_worth(mechanism, cost(record))
}

/// What the faults cost, if that was measured.
fn cost(record: &Record) -> Option<Cost> {
    gain(record).and_then(|_| Cost::of(&record.figures))
}

/// Several mechanisms may be the one of most faults.
fn undecided(leading: &[&Figure]) -> Option<Explanation> {
    let candidate = |figure: &&Figure| {
        let (cause, interval) = (mechanism::cause(figure)?, figure.interval.as_ref()?);
        Some(faults::Candidate { cause, low: Share(interval.low), high: Share(interval.high) })
    };
    let candidates: Vec<faults::Candidate> = leading.iter().filter_map(candidate).take(SHOWN).collect();
    (candidates.len() > 1).then(|| note("mechanism", Faults::Undecided { candidates }, leading))
}

/// What may be done about a mechanism, and how to find out whether it helps.
fn to_try(figure: &Figure) -> Option<Explanation> {
    let (about, price) = (text(figure, SETTING_ABOUT)?, text(figure, SETTING_PRICE)?);
    if let Some(site) = text(figure, SETTING_SITE).filter(|_| command(figure).is_none()) {
        let case = Faults::OnlyCode { site, about, price, code: text(figure, SETTING_CODE)? };
        return Some(note("setting", case, &[figure]));
    }
    let action = match command(figure) {
        Some(_) => "truebench faults --prove -- COMMAND".to_owned(),
        None => text(figure, SETTING_CODE)?,
    };
    Some(note("setting", Faults::NotProved { about, price, action }, &[figure]))
}

/// How many faults there are, where their cost is not known.
fn unpriced(minor: &Figure, main: Option<&Figure>) -> Option<Explanation> {
    let faults = Counted(fact(minor, FAULT_TOTAL)?, "minor fault");
    let case = Faults::CostUnknown { faults, cause: main.and_then(mechanism::cause) };
    Some(note("page-faults", case, &[minor]))
}

/// What the faults cost, where most of them come from, what stops them: a rate alone answers nothing.
///
/// The price is that of a loop. After a pause, with the kernel's code and data no longer in the caches, a fault takes several
/// times as long; and calls that give memory back come on top. So the bound is all that was spent in the kernel.
fn answer(
    record: &Record,
    gain: &Figure,
    main: Option<&Figure>,
    little: Option<Cost>,
) -> Option<Explanation> {
    let (value, cpu) = (gain.value?, fact(gain, PROGRAM_CPU)?);
    let bound = fact(gain, PROGRAM_SYSTEM).map(|system| system / cpu);
    let price = |id| in_seconds(measured(record, id)?).map(Seconds);
    let huge = fact(gain, FAULT_HUGE).filter(|huge| *huge >= 1.0).zip(price("faults.prices.huge"));
    let small = fact(gain, FAULT_TOTAL)? - huge.map_or(0.0, |(huge, _)| huge);
    let cost = faults::Cost {
        program: text(gain, WATCHED),
        share: Share(value),
        faults: Counted(small, "minor fault"),
        price: price("faults.prices.minor.write")?,
        huge: huge.map(|(huge, price)| faults::HugeFaults { faults: Count(huge), price }),
        cpu: Seconds(cpu),
        bound: bound.filter(|bound| little.is_none() && cpu >= RESOLVED && *bound > value).map(Share),
    };
    let cause = main.and_then(mechanism::cause);
    let tried = settings::undisturbed(record);
    let best = tried.as_ref().and_then(settings::chosen);
    let is_in_vain = tried.as_ref().is_some_and(|tried| tried.arms.iter().any(|arm| arm.effect.is_some()));
    let case = match best {
        Some((arm, _)) => {
            // A setting may save wall time alone; and under load the size of a saving is not known.
            let cpu = arm.ratio(Quantity::Cpu).filter(|cpu| cpu.high < 1.0 && arm.direction.is_none());
            let saved = cpu.map(|cpu| Share(1.0 - cpu.value));
            let command = command(arm.figure);
            Faults::CostSaved { cost, cause, setting: arm.name.clone(), saved, command }
        }
        None => match little {
            Some(little) => {
                Faults::CostLittle { cost, most: Share(little.most), is_by_price: little.is_by_price }
            }
            None if is_in_vain => Faults::CostStays { cost, cause },
            None => {
                let untried = main.filter(|main| is_open(record, main));
                Faults::Cost { cost, cause, command: untried.and_then(command) }
            }
        },
    };
    let severity = if little.is_some() { Severity::Note } else { Severity::Warning };
    Some(finding(severity, "page-faults", case, &[gain]))
}

/// A mapping that replaces an older one shows as mmap alone: if that has so many times the bytes of the other calls.
const REPLACES: f64 = 2.0;

/// The calls by which a mechanism works; `None` where they were not counted, for too short a time, or gave back too few pages.
fn calls(record: &Record, figure: &Figure) -> Option<Explanation> {
    let cause = mechanism::cause(figure)?;
    let kinds: &[Call] = match cause.mechanism {
        Mechanism::MapChurn => &[Call::Munmap, Call::Mremap],
        Mechanism::HeapTrim => &[Call::BrkDown],
        Mechanism::MallocTrim | Mechanism::ArenaTrim => &[Call::Dontneed],
        Mechanism::Purge => &[Call::Dontneed, Call::Free],
        _ => return None,
    };
    if figure.checks.iter().any(|check| check.id == "calls-and-faults" && check.outcome >= Outcome::Warn) {
        return None;
    }
    let all = measured(record, "faults.calls")?;
    let seconds = fact(all, CALL_SECONDS)?;
    let count = |figure: &Figure| fact(figure, CALL_COUNT).unwrap_or(0.0);
    let bytes = |figure: &Figure| fact(figure, CALL_BYTES).unwrap_or(0.0);
    let of = |call: Call| Some((call, record.figure(&format!("faults.calls.{call}"))?));
    let most = |one: &(Call, &Figure), other: &(Call, &Figure)| {
        bytes(one.1).total_cmp(&bytes(other.1)).then(count(one.1).total_cmp(&count(other.1)))
    };
    let counted = kinds.iter().filter_map(|call| of(*call)).max_by(most);
    let is_replaced = cause.mechanism == Mechanism::MapChurn;
    let mapped = of(Call::Mmap).filter(|(_, mapped)| {
        is_replaced && bytes(mapped) > REPLACES * counted.map_or(0.0, |(_, counted)| bytes(counted))
    });
    if let Some((call, counted)) = mapped.or(counted) {
        let rate = Number(count(counted) / seconds.max(1e-9));
        // Owners are known of the calls that unmap.
        let owned = cause.manager.filter(|_| mapped.is_none()).and_then(|manager| owned(figure, manager));
        let case = Faults::CallsConfirm { call: call.description(), rate, owned };
        return Some(note("mechanism-calls", case, &[counted, figure]));
    }
    // A few calls have no figure, only a part of that of all.
    let are_few = all.parts.iter().any(|part| kinds.iter().any(|call| call.description() == part.name));
    let are_lost = fact(all, CALL_LOST).is_none_or(|lost| lost > 0.0);
    let calls = kinds.iter().map(|call| call.description()).collect();
    let case = Faults::CallsContradict { calls, time: Seconds(seconds) };
    (!are_few && !are_lost && seconds >= LONG).then(|| warning("mechanism-calls", case, &[all, figure]))
}

/// The share of the calls that the manager of the mechanism makes.
fn owned(figure: &Figure, manager: Manager) -> Option<faults::Owned> {
    let (malloc, allocator) = (fact(figure, CALLS_OF_MALLOC)?, fact(figure, CALLS_OF_ALLOCATOR)?);
    let runtime = fact(figure, CALLS_OF_RUNTIME).unwrap_or(0.0);
    let share = match manager {
        manager if manager.is_c_library() => malloc,
        manager if manager.is_runtime() => runtime,
        Manager::Program => 1.0 - malloc - allocator - runtime,
        _ => allocator,
    };
    Some(faults::Owned { share: Share(share.clamp(0.0, 1.0)), manager })
}

/// The kind of block with most faults, if that is a good part of them.
fn blocks(record: &Record) -> Option<Explanation> {
    let rows = record.figures.iter().filter(|figure| figure.series.as_deref() == Some("faults.blocks"));
    let main = rows.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let site = format::plain(&main.conditions.get(BLOCK_SITE).filter(|site| !site.is_empty())?);
    let share = Share(main.value.filter(|share| *share >= LEAST)?);
    let are_freed = fact(main, BLOCK_FREED).is_some_and(|share| share >= MOSTLY);
    let young = fact(main, BLOCK_AGE).filter(|age| *age < YOUNG && are_freed).map(Seconds);
    let case = Faults::InBlocks { share, size: Bytes(fact(main, BLOCK_MOST)?), site, young };
    Some(note("blocks", case, &[main]))
}

/// The price of minor faults, and of those that need the disk.
pub(super) fn prices(record: &Record) -> Vec<Explanation> {
    minor(record).into_iter().chain(major(record)).collect()
}

fn minor(record: &Record) -> Option<Explanation> {
    let figure = find(record, "minor.write")?;
    let price = in_seconds(figure)?;
    let (share, rate) = (Share(RATE * price), rounded(SHARE / price));
    let case = Faults::MinorFaultPrice { price: Seconds(price), share, rate };
    Some(note("prices", case, &[figure]))
}

fn major(record: &Record) -> Option<Explanation> {
    let (major, minor) = (find(record, "major")?, find(record, "minor.write")?);
    let price = in_seconds(major)?;
    let scans = find(record, "scan.cold").zip(find(record, "scan.warm"));
    let case = Faults::DiskPagePrice {
        price: Seconds(price),
        minor: Number(ratio(major, minor)?.0),
        rate: rounded(1.0 / price),
        scan: scans.and_then(|(cold, warm)| ratio(cold, warm)),
    };
    let scans = scans.map_or_else(Vec::new, |(cold, warm)| vec![cold, warm]);
    Some(note("prices", case, &[vec![major, minor], scans].concat()))
}

/// Two digits: the price is known no better.
fn rounded(count: f64) -> Count {
    let step = 10f64.powf(count.log10().floor() - 1.0);
    Count((count / step).round() * step)
}
