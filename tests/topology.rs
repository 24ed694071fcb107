//! Study 2, for real: one kernel on machines that differ in the last-level cache that they show, and nothing else. Two free
//! tasks follow it, pinned ones do not, and the explanation names it.
//!
//! The processors are emulated (TCG), where a rate means nothing. What is asserted is the share of looks that found both
//! tasks on one CPU.

use figure::{Figure, Outcome, Record, Status, Verdict, evidence};
use serde_json::Value;

use crate::guest::Guest;

/// Share of all looks at free pairs, over their rounds, where each CPU has a last-level cache of its own (kernel 6.1, a quiet
/// host: 0.55 to 0.85): pairs that are on one CPU stay there for seconds, until load balancing parts them, and so do parted
/// ones. Ways that wake without the hint that the waker is about to sleep (futexes) are apart most of the time.
const TOGETHER: f64 = 0.3;
/// The same where the cache is shared (0.00).
const APART: f64 = 0.05;
/// A guest is booted again if its tasks do not follow, at most so often. It takes a quiet host: where virtual CPUs wait for
/// real ones, a task that was woken is balanced away before its waker sleeps, and a CPU that should be idle is not; and a pass
/// may have fewer round trips than it takes for a look.
const BOOTS: usize = 3;

/// Short passes: what takes long, settling, is done once.
const SCRIPT: &str = "
run switch truebench system switch --rounds 3 --duration 400ms --format json
run plan truebench system switch --dry-run
";

/// What the guest is shown of its last-level cache.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Llc {
    /// One, over all CPUs.
    Shown,
    /// None: the level before is the last, and each CPU has its own.
    Hidden,
    /// One in each package, and one CPU in each of these.
    Split,
}

impl Llc {
    /// The option of QEMU.
    fn machine(self, cpus: usize) -> [String; 8] {
        // An AMD model takes the package for the last level where it is hidden, and hides nothing.
        let model = match self {
            Llc::Hidden => "Skylake-Server,l3-cache=off",
            Llc::Shown | Llc::Split => "Skylake-Server",
        };
        let shape = match self {
            Llc::Split => format!("{cpus},sockets={cpus},cores=1,threads=1"),
            Llc::Shown | Llc::Hidden => format!("{cpus},sockets=1,cores={cpus},threads=1"),
        };
        ["-M", "q35", "-m", "512M", "-cpu", model, "-smp", &shape].map(str::to_owned)
    }

    /// The class of any two CPUs.
    fn class(self) -> &'static str {
        match self {
            Llc::Shown => "llc",
            Llc::Hidden => "package",
            Llc::Split => "socket",
        }
    }
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn two_cpus_that_share_a_cache() {
    follows(2, Llc::Shown);
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn two_cpus_with_a_hidden_cache() {
    follows(2, Llc::Hidden);
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn two_cpus_in_packages_of_their_own() {
    follows(2, Llc::Split);
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn four_cpus_that_share_a_cache() {
    follows(4, Llc::Shown);
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn four_cpus_with_a_hidden_cache() {
    follows(4, Llc::Hidden);
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn four_cpus_in_packages_of_their_own() {
    follows(4, Llc::Split);
}

fn follows(cpus: usize, llc: Llc) {
    let machine = llc.machine(cpus);
    let mut deviations = Vec::new();
    while deviations.len() < BOOTS {
        let guest = Guest::run(&machine.each_ref().map(String::as_str), SCRIPT);
        let ran = guest.ran("switch");
        let record: Record =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let settles = guest.ran("plan").stdout.contains("settling");
        assert_eq!(settles, llc != Llc::Shown, "{llc:?}: {}", guest.ran("plan").stdout);
        shape(&record, cpus, llc);
        pinned(&record, llc);
        labelled(&record);
        println!("{}", row(&record, cpus, llc));
        match free(&record, llc) {
            Ok(()) => return,
            Err(deviation) => deviations.push(deviation),
        }
    }
    panic!("{cpus} CPUs, {llc:?}: {deviations:#?}");
}

fn figure<'a>(record: &'a Record, id: &str) -> &'a Figure {
    record.figure(&format!("system.switch.{id}")).unwrap_or_else(|| panic!("no {id}"))
}

/// Share of samples with both tasks on one CPU, the mean over all rounds; `None` without samples.
fn together<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Option<f64> {
    let rounds = figures.into_iter().flat_map(Figure::used_rounds);
    let shares: Vec<f64> =
        rounds.filter_map(|round| round.evidence.get(evidence::HOP_TOGETHER).into_value()).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// A row for the table in docs/methods/system-switch.md.
fn row(record: &Record, cpus: usize, llc: Llc) -> String {
    let words =
        ["free", "free.threads", "free.young", "same-cpu.threads", &format!("{}.threads", llc.class())];
    let cells = words.map(|word| {
        let figure = record.figure(&format!("system.switch.{word}"));
        let (rate, share) =
            (figure.and_then(|figure| figure.value), figure.and_then(|figure| together([figure])));
        match rate.zip(share) {
            Some((rate, share)) => format!("{word} {share:.2} at {rate:.0} lps"),
            None => format!("no {word}"),
        }
    });
    format!("{cpus} CPUs, {llc:?}: {}", cells.join(", "))
}

/// The guest shows the configured topology, and missing figures have a reason.
fn shape(record: &Record, cpus: usize, llc: Llc) {
    let machine = &record.machine;
    assert_eq!(machine.topology.allowed.len(), cpus);
    let last = |cpu| machine.last_level_of(cpu).expect("caches are shown");
    for cpu in machine.topology.allowed.iter() {
        assert_eq!(last(cpu).cpus.len(), if llc == Llc::Shown { cpus } else { 1 }, "CPU {cpu}");
        assert_eq!(last(cpu).level, if llc == Llc::Hidden { 2 } else { 3 }, "CPU {cpu}");
    }
    for class in lab::pairs::CLASSES.map(lab::pairs::Class::word) {
        let figure = figure(record, class);
        if class == llc.class() {
            assert_eq!(figure.status, Status::Measured, "{class}: {:?}", figure.reason);
        } else {
            assert_eq!(figure.status, Status::NotAvailable, "{class}");
            assert!(figure.reason.as_deref().unwrap().starts_with("there are no two"), "{:?}", figure.reason);
        }
    }
}

/// Pinned tasks are where they were put, whatever the guest shows.
fn pinned(record: &Record, llc: Llc) {
    for (class, share) in [("same-cpu", 1.0), (llc.class(), 0.0)] {
        for way in ["", ".threads"] {
            let figure = figure(record, &format!("{class}{way}"));
            assert_eq!(figure.status, Status::Measured, "{}: {:?}", figure.id, figure.reason);
            assert_eq!(figure.sum(evidence::PLACE_STRAYED).into_value(), Some(0.0), "{}", figure.id);
            assert!(together([figure]).is_none_or(|together| together == share), "{}", figure.id);
        }
    }
    assert_eq!(together([figure(record, "same-cpu")]), Some(1.0), "these are the ones that hop fast enough");
}

/// Every figure is marked as an emulator's.
fn labelled(record: &Record) {
    assert!(record.machine.virtualisation.is_emulated(), "{:?}", record.machine.virtualisation);
    for figure in record.figures.iter().filter(|figure| figure.status == Status::Measured) {
        let check = figure.checks.iter().find(|check| check.id == "emulated");
        assert_eq!(check.map(|check| check.outcome), Some(Outcome::Warn), "{}", figure.id);
        assert_ne!(figure.verdict, Some(Verdict::Valid), "{}", figure.id);
    }
}

/// Whether free tasks are where the cache makes the kernel put them.
fn free(record: &Record, llc: Llc) -> Result<(), String> {
    let pair = figure(record, "free");
    let placed = pair.explanations.iter().find(|explanation| explanation.case == "switch-placed");
    // An invalid figure has its first check alone.
    assert!(placed.is_some() || pair.verdict == Some(Verdict::Invalid), "{:?}", pair.explanations);
    if let Some(placed) = placed {
        let expected = match (llc, placed.values["one"].as_f64().unwrap()) {
            (Llc::Shown, ..0.9) => "goes-to-idle-cpu".into(),
            (Llc::Hidden | Llc::Split, 0.1..) => "stays-with-waker".into(),
            _ => Value::Null,
        };
        assert_eq!(placed.values["cause"], expected, "{placed:?}");
    }
    let young = record.figure("system.switch.free.young");
    assert_eq!(young.is_some(), llc != Llc::Shown);
    if let Some(young) = young.filter(|young| together([*young]).is_some_and(|share| share <= APART)) {
        // Without settling the same tasks run apart (nearly always), and the figure says why.
        let is_new = young.explanations.iter().any(|explanation| explanation.case == "switch-new-pair");
        assert!(is_new || together([pair]).is_none_or(|share| share < 0.2), "{:?}", young.explanations);
    }
    let is_free = |figure: &&Figure| {
        figure.conditions.get(evidence::PLACEMENT).as_deref() == Some("free") && !figure.id.ends_with("young")
    };
    let settled: Vec<&Figure> = record.figures.iter().filter(is_free).collect();
    for figure in &settled {
        let rests = figure.conditions.get(evidence::HOP_RESTS);
        assert_eq!(rests.is_some(), llc != Llc::Shown, "{}: only where it takes time", figure.id);
    }
    let each = || settled.iter().map(|figure| (figure.id.as_str(), together([*figure]))).collect::<Vec<_>>();
    let share = together(settled.iter().copied()).ok_or("too few round trips, no samples")?;
    match llc {
        Llc::Shown if share <= APART => Ok(()),
        Llc::Hidden | Llc::Split if share >= TOGETHER => Ok(()),
        _ => Err(format!("{share:.2} of the looks on one CPU: {:?}", each())),
    }
}
