//! `--class` on this machine, and on this machine with PMUs of two kinds of core shown in a mount namespace: CPU 0 as a
//! performance core, the others as efficiency cores.

use std::process::{Command, Output};

use figure::evidence::{COPIES, CORE_KIND, CPUS};
use figure::{Outcome, Record, Status};

use crate::bench::{figure, record, run, stderr, stdout, truebench};

/// Shows a directory in place of /sys/devices that has the same devices and two more.
const SHOWN: &str = r#"
set -e
mount -t tmpfs none /mnt
mkdir /mnt/old /mnt/new
mount --rbind /sys/devices /mnt/old
cd /mnt/old
for device in *; do
    if [ -d "$device" ]; then mkdir "/mnt/new/$device"; mount --rbind "$device" "/mnt/new/$device"; fi
done
mkdir -p /mnt/new/cpu_core /mnt/new/cpu_atom
echo 0 >/mnt/new/cpu_core/cpus
echo 1-8191 >/mnt/new/cpu_atom/cpus
mount --rbind /mnt/new /sys/devices
cd /
exec "$@"
"#;
const MEASURED: &[&str] = &["--rounds", "6", "--format", "json", "--quiet"];

/// The command on the hybrid machine.
fn on_hybrid(arguments: &[&str]) -> Output {
    let own = truebench(arguments);
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SHOWN, "sh"]).arg(own.get_program()).args(own.get_args());
    command.output().expect("unshare (util-linux) starts")
}

/// Whether that can be had: root, and more than one CPU.
fn is_hybrid() -> bool {
    let described = on_hybrid(&["host", "--format", "json"]);
    let machine: Option<figure::Machine> = serde_json::from_slice(&described.stdout).ok();
    let two = machine.is_some_and(|machine| {
        let kinds = machine.topology.cores.among(&machine.topology.permitted());
        kinds.len() == 2 && kinds[0].cpus.to_string() == "0"
    });
    if !two {
        eprintln!("skipped: no mount namespace with two kinds of core: {}", stderr(&described));
    }
    two
}

fn cpus(record: &Record) -> Vec<u32> {
    let of_figures = record.figures.iter().filter_map(|figure| figure.conditions.get(CPUS)).flatten();
    let mut cpus: Vec<u32> = of_figures.map(|cpu| cpu as u32).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn kinds(record: &Record) -> Vec<String> {
    let measured = record.figures.iter().filter(|figure| figure.status != Status::NotAvailable);
    let mut kinds: Vec<String> =
        measured.map(|figure| figure.conditions.get(CORE_KIND).unwrap_or_default()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn a_machine_of_one_kind_says_so() {
    let machine = machine::describe(&machine::Tree::live(), &machine::Overrides { dimms: None });
    if !machine.topology.cores.is_plain() {
        eprintln!("skipped: this machine has several kinds of core, or may have");
        return;
    }
    let refused = run(&["memory", "--class", "efficiency", "--dry-run"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--class efficiency: all cores of this machine are of one kind"));
    for class in ["performance", "all"] {
        let plain = stdout(&run(&["system", "noise", "--dry-run"]));
        assert_eq!(stdout(&run(&["system", "noise", "--dry-run", "--class", class])), plain);
    }
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn figures_are_of_one_kind_of_core() {
    if !is_hybrid() {
        return;
    }
    let _turn = crate::bench::turn();
    let small = ["memory", "bandwidth", "--kernel", "triad", "--stores", "regular", "--array-size", "2M"];
    let of = |class: &[&str]| record(&on_hybrid(&[&small, class, MEASURED].concat()));
    let (fast, slow, all) = (of(&[]), of(&["--class", "efficiency"]), of(&["--class", "all"]));
    assert_eq!((cpus(&fast), kinds(&fast)), (vec![0], vec!["performance".to_owned()]));
    assert!(!cpus(&slow).contains(&0));
    assert_eq!(kinds(&slow), ["efficiency"]);
    assert_eq!(kinds(&all), ["performance and efficiency"]);
    let check = |record: &Record| {
        let triad = record.figure("memory.triad.regular").unwrap();
        triad.checks.iter().find(|check| check.id == "mixed-cores").map(|check| check.outcome)
    };
    assert_eq!(check(&fast), None, "one CPU");
    assert!(check(&all) >= Some(Outcome::Warn), "{:?}", check(&all));

    // Figures of different kinds are not the same experiment.
    let directory = tempfile::tempdir().unwrap();
    let files = [("fast.json", &fast), ("slow.json", &slow)].map(|(name, record)| {
        let path = directory.path().join(name);
        std::fs::write(&path, serde_json::to_vec(record).unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let compared = stdout(&run(&["compare", &files[0], &files[1]]));
    let words = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("core_kind performance in A, efficiency in B"), "{compared}");
}

#[test]
fn tasks_that_the_scheduler_places_stay_on_the_kind() {
    if !is_hybrid() {
        return;
    }
    let record = record(&on_hybrid(&[&["system", "pipe", "--duration", "0.2s"][..], MEASURED].concat()));
    assert_eq!(kinds(&record), ["performance"]);
    let copies = record.figures.iter().filter_map(|figure| figure.conditions.get(COPIES));
    assert!(copies.into_iter().all(|copies| copies == 1.0), "one copy, and one for each CPU of the kind");
    let pipe = figure(&record, "system.pipe");
    let check = pipe.checks.iter().find(|check| check.id == "mixed-cores").unwrap();
    assert_eq!(check.outcome, Outcome::Pass, "{}", check.detail);
}

#[test]
fn scaling_goes_kind_by_kind() {
    if !is_hybrid() {
        return;
    }
    let plan =
        |class: &[&str]| stdout(&on_hybrid(&[&["memory", "scaling", "--dry-run"][..], class].concat()));
    let series = |text: &str, kind: &str| text.contains(&format!("memory.scaling.{kind}.cores.1 "));
    let kind_by_kind = plan(&[]);
    assert_eq!(
        ["performance", "efficiency", "all"].map(|kind| series(&kind_by_kind, kind)),
        [true, true, false]
    );
    let together = plan(&["--class", "all"]);
    assert_eq!(["performance", "efficiency", "all"].map(|kind| series(&together, kind)), [true; 3]);
    let refused = on_hybrid(&["memory", "scaling", "--class", "low-power"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("there are performance (CPU 0), efficiency ("), "{}", stderr(&refused));
}
