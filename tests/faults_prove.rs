//! `faults --prove`: programs of all sorts without a setting and with each.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use figure::{Outcome, Record, Status, Verdict, evidence};
use suites::settings::{Effect, Took, Trial, trial};

use crate::bench::{Hog, figure, record, run, stderr, stdout, truebench};

/// Three live blocks of 2 MiB, touched, and given back: what glibc alone does worst.
const THREE: &str = "
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (int turn = 0; turn < 60; turn++) {
		char *blocks[3];
		for (int i = 0; i < 3; i++)
			memset(blocks[i] = malloc(2 << 20), 1, 2 << 20);
		for (int i = 0; i < 3; i++)
			free(blocks[i]);
	}
	return 0;
}
";

/// Large blocks of zeros, of which hardly a page is used: what is given again must be zeroed.
const SPARSE: &str = "
#include <stdlib.h>
int main(void)
{
	for (int turn = 0; turn < 30; turn++) {
		volatile char *block = calloc(1, 48 << 20);
		block[100] = block[5 << 20] = 1;
		free((void *)block);
	}
	return 0;
}
";

/// Memory that stays, and is touched once.
const GROWING: &str = "
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (int block = 0; block < 3000; block++)
		memset(malloc(64 << 10), 1, 64 << 10);
	return 0;
}
";

/// Work without memory.
const COMPUTING: &str = "
int main(void)
{
	for (volatile long work = 0; work < 200000000; work++)
		;
	return 0;
}
";

/// An allocator of its own, of memory that it never gives back, in a program that is linked statically without a C library.
const OWN: &str = "
static char memory[1 << 20];
void _start(void)
{
	for (int turn = 0; turn < 20; turn++)
		for (unsigned i = 0; i < sizeof memory; i += 64)
			((volatile char *)memory)[i] = 1;
#if defined(__x86_64__)
	__asm__ volatile(\"syscall\" : : \"a\"(60), \"D\"(0));
#else
	register long number __asm__(\"x8\") = 93, code __asm__(\"x0\") = 0;
	__asm__ volatile(\"svc 0\" : : \"r\"(number), \"r\"(code));
#endif
	for (;;)
		;
}
";

/// A program of this source.
fn program(directory: &Path, source: &str, options: &[&str]) -> PathBuf {
    let (file, program) = (directory.join("program.c"), directory.join("program"));
    std::fs::write(&file, source).unwrap();
    let built = Command::new("cc")
        .args(["-O1", "-fno-builtin", "-o"])
        .arg(&program)
        .arg(&file)
        .args(options)
        .status();
    assert!(built.expect("a C compiler").success());
    program
}

/// Three live blocks of 2 MiB, of which a byte of each page is written: most of its time is page faults, and the rest lasts as long as clock ticks
/// need to tell who else was there.
const FAULTING: &str = "
#include <stdlib.h>
int main(void)
{
	for (volatile long work = 0; work < 30000000; work++)
		;
	for (int turn = 0; turn < 80; turn++) {
		volatile char *blocks[3];
		for (int i = 0; i < 3; i++) {
			blocks[i] = malloc(2 << 20);
			for (int at = 0; at < 2 << 20; at += 4096)
				blocks[i][at] = 1;
		}
		for (int i = 0; i < 3; i++)
			free((void *)blocks[i]);
	}
	return 0;
}
";

/// Runs the proof with these options.
fn proof(options: &[&str], command: &[&str]) -> Output {
    run(&[&["faults", "--prove", "--rounds", "6", "--format", "json"], options, &["--"], command].concat())
}

/// What a proof gives of a program of this source.
fn proved(source: &str, build: &[&str], options: &[&str]) -> Record {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), source, build);
    record(&proof(options, &[program.to_str().unwrap()]))
}

/// CPU time with a setting for that without; wide bounds only, as others work beside us.
fn cpu(record: &Record, setting: &str) -> f64 {
    figure(record, &format!("faults.settings.cpu.{setting}")).value.unwrap()
}

#[track_caller]
fn took<'a>(trial: &'a Trial, setting: &str) -> &'a Took {
    &trial.arms.iter().find(|arm| arm.name == setting).unwrap_or_else(|| panic!("no {setting}")).took
}

#[test]
fn both_thresholds_together_help_and_one_alone_does_not() {
    let record = proved(THREE, &[], &["--setting", "both,thresholds,mmap-max,trim"]);
    let trial = trial(&record).unwrap();
    for setting in ["both", "thresholds", "mmap-max", "trim"] {
        assert!(matches!(took(&trial, setting), Took::Yes(_)), "{setting}: {:?}", took(&trial, setting));
        let figure = figure(&record, &format!("faults.prove.cpu.{setting}"));
        assert_eq!(figure.used_rounds().count(), 6);
        assert!(figure.conditions.get(evidence::SETTING_ENVIRONMENT).unwrap().starts_with("GLIBC_TUNABLES="));
        assert!(figure.conditions.get(evidence::SETTING_CODE).unwrap().contains("mallopt(M_"));
        for what in ["system", "wall", "memory", "faults"] {
            crate::bench::figure(&record, &format!("faults.prove.{what}.{setting}"));
        }
    }
    for setting in ["both", "thresholds"] {
        let ratio = figure(&record, &format!("faults.settings.cpu.{setting}"));
        assert!(ratio.interval.as_ref().unwrap().high < 0.7, "{setting}: {ratio:?}");
        assert!(figure(&record, &format!("faults.settings.faults.{setting}")).value.unwrap() < 0.2);
    }
    for setting in ["mmap-max", "trim"] {
        assert!(cpu(&record, setting) > 0.7, "{setting}: {}", cpu(&record, setting));
        let arm = trial.arms.iter().find(|arm| arm.name == setting).unwrap();
        assert_ne!(arm.effect, Some(Effect::Helps), "{setting}");
    }
}

#[test]
fn what_saves_faults_may_cost_time() {
    let record = proved(SPARSE, &[], &["--setting", "both"]);
    let faults = figure(&record, "faults.settings.faults.both").value.unwrap();
    assert!(cpu(&record, "both") > 2.0, "{} with {faults} of the faults", cpu(&record, "both"));
}

#[test]
fn a_static_program_with_glibc_takes_tunables_and_one_without_does_not() {
    let record = proved(THREE, &["-static"], &["--setting", "both"]);
    assert!(matches!(took(&trial(&record).unwrap(), "both"), Took::Yes(_)));
    assert!(cpu(&record, "both") < 0.7);

    let record = proved(
        OWN,
        &["-static", "-nostdlib", "-fno-stack-protector"],
        &["--manager", "glibc", "--setting", "both"],
    );
    let both = figure(&record, "faults.prove.cpu.both");
    let check = both.checks.iter().find(|check| check.id == "setting-effect").unwrap();
    assert!(matches!(check.outcome, Outcome::Fail | Outcome::Unknown), "{check:?}");
    assert_eq!(trial(&record).unwrap().arms[0].effect, None, "void");

    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), OWN, &["-static", "-nostdlib", "-fno-stack-protector"]);
    let refused = proof(&["--mechanism", "growth"], &[program.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("the memory manager of"), "{}", stderr(&refused));
    // Without a setting to try the program is watched, and the findings are reported all the same.
    let watched = crate::bench::record(&proof(&[], &[program.to_str().unwrap()]));
    let tried = figure(&watched, "faults.settings");
    assert_eq!(tried.status, Status::NotAvailable);
    assert!(tried.reason.is_some() && watched.figure("faults.minor").is_some(), "{tried:?}");
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn under_load_a_large_effect_has_a_direction_and_counts_hold() {
    let _hogs = Hog::on_all();
    let record = proved(FAULTING, &[], &["--setting", "both"]);
    let base = figure(&record, "faults.prove.cpu.base");
    assert_eq!(base.verdict, Some(Verdict::Invalid), "{:?}", base.checks);
    let faults = figure(&record, "faults.settings.faults.both");
    assert_eq!(faults.verdict, Some(Verdict::Valid), "{:?}", faults.checks);
    assert!(faults.value.unwrap() < 0.1, "{:?}", faults.value);
    let ratio = figure(&record, "faults.settings.cpu.both");
    let treated = ratio.checks.iter().find(|check| check.id == "equal-treatment").unwrap();
    assert_eq!((ratio.verdict, treated.outcome), (Some(Verdict::Suspect), Outcome::Warn), "{treated:?}");
    assert_eq!(trial(&record).unwrap().arms[0].effect, Some(Effect::Helps), "{ratio:?}");
    let advice = record.findings.iter().find(|finding| finding.case == "setting-helps").expect("advice");
    assert!(advice.values["setting"] == "both" && advice.values["load"].is_number(), "{advice:?}");
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn another_allocator_is_a_setting_that_is_proved() {
    let directory = tempfile::tempdir().unwrap();
    let library = crate::alloc::library(directory.path(), "valid");
    let mine = format!("mine={}", library.display());
    let record = proved(THREE, &[], &["--setting", "trim", "--allocator", &mine]);
    let figure = figure(&record, "faults.prove.cpu.mine");
    assert_eq!(figure.status, Status::Measured, "{:?}", figure.reason);
    assert!(
        matches!(took(&trial(&record).unwrap(), "mine"), Took::Yes(change) if change.contains("libvalid"))
    );

    let record = proved(THREE, &["-static"], &["--setting", "trim", "--allocator", &mine]);
    let void = crate::bench::figure(&record, "faults.prove.cpu.mine");
    assert_eq!(void.status, Status::Failed);
    assert!(void.reason.as_ref().unwrap().contains("linked statically"), "{:?}", void.reason);
}

#[test]
#[ignore = "a minute: make test-long"]
fn a_program_that_does_not_end_is_compared_by_its_rates() {
    let source = THREE
        .replace("turn < 60", "1")
        .replace("#include <string.h>", "#include <string.h>\n#include <unistd.h>");
    let source = source.replace("free(blocks[i]);\n\t}", "free(blocks[i]);\n\t\tusleep(20000);\n\t}");
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &source, &[]);
    let options = ["--setting", "both", "--until-rate=4s", "--rounds", "2"];
    let output =
        truebench(&["faults", "--prove", "--format", "json"]).args(options).arg("--").arg(&program).output();
    let record = record(&output.unwrap());
    let (base, both) = (figure(&record, "faults.prove.cpu.base"), figure(&record, "faults.prove.cpu.both"));
    assert_eq!(base.status, Status::Measured, "{:?}", base.reason);
    assert_eq!(base.unit.symbol(), "CPUs");
    let faults = |figure: &figure::Figure| figure.largest(evidence::RATE_FAULTS).into_value().unwrap();
    assert!(faults(base) > 5000.0 && faults(both) < 0.3 * faults(base), "{} {}", faults(base), faults(both));
    assert!(base.checks.iter().any(|check| check.id == "rates-steady"));
    let left = Command::new("sh").args(["-c", "ls -l /proc/*/exe 2>/dev/null"]).output().unwrap();
    assert!(!stdout(&left).contains(program.to_str().unwrap()), "left behind");

    let ended = crate::bench::record(&proof(&["--setting", "both", "--until-rate=4s"], &["true"]));
    let reason = figure(&ended, "faults.prove.cpu.base").reason.clone().unwrap();
    assert!(reason.contains("it ended by itself"), "{reason}");
}

/// The doctor looks at one start, and what is tried is against what it found.
#[test]
fn what_was_found_is_what_is_tried() {
    let record = proved(THREE, &[], &[]);
    let trial = trial(&record).expect("settings were tried");
    assert!(trial.arms.iter().any(|arm| arm.name == "thresholds"));
    assert!(figure(&record, "faults.gain").value.is_some(), "{:?}", figure(&record, "faults.gain").reason);
    assert_eq!(record.findings[0].rule, "page-faults");
    assert!(
        record.findings.iter().all(|one| one.case != "not-proved"),
        "it was tried: {:?}",
        record.findings
    );
    // Known facts are not searched again.
    let proof = proved(THREE, &[], &["--setting", "thresholds"]);
    assert!(proof.figure("faults.gain").is_none());
}

#[test]
fn where_no_setting_fits_none_is_tried() {
    for (source, why) in [(GROWING, "no setting saves first touch"), (COMPUTING, "of the CPU time")] {
        let directory = tempfile::tempdir().unwrap();
        let program = program(directory.path(), source, &[]);
        let output = proof(&[], &[program.to_str().unwrap()]);
        let record = record(&output);
        assert!(trial(&record).is_none());
        let tried = record.figure("faults.settings").expect("the reason");
        assert_eq!(tried.status, Status::NotAvailable);
        let reason = tried.reason.as_deref().unwrap_or_default();
        assert!(reason.contains(why), "{reason}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    // What is named is tried all the same.
    assert!(trial(&proved(GROWING, &[], &["--setting", "hugetlb"])).is_some());
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, words) in [
        (&["--prove"][..], "truebench faults --prove -- COMMAND"),
        (&["--prove", "--", "/nowhere/program"], "no such program"),
        (&["--prove", "--setting", "decay", "--", "true"], "there are thresholds, top-pad, both"),
        (&["--prove", "--manager", "nobody", "--", "true"], "[possible values: glibc, musl"),
        (&["--prove", "--manager", "musl", "--", "true"], "--allocator jemalloc"),
        (&["--prove", "--allocator", "nomalloc", "--", "true"], "NAME=/path/lib.so"),
        (&["--prove", "--allocator", "glibc", "--", "true"], "what the program has without it"),
        (&["--setting", "both", "--", "true"], "--prove"),
    ] {
        let output = truebench(&["faults", "--dry-run"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    let planned = run(&["faults", "--prove", "--dry-run", "--", "ls", "-l"]);
    assert!(planned.status.success(), "{}", stderr(&planned));
    assert!(stdout(&planned).contains("ls -l") && stdout(&planned).contains("managed by glibc's malloc"));
}

/// What `record.rs` looks at: a record in which all that checks read of settings is written.
pub fn short() -> [Record; 2] {
    let once = ["--setting", "both", "--rounds", "1"];
    let run = |options: &[&str], command: &[&str]| {
        let all = [&["faults", "--prove", "--format", "json"], &once[..], options, &["--"], command].concat();
        record(&crate::bench::run(&all))
    };
    [run(&[], &["true"]), run(&["--until-rate=3s"], &["sleep", "600"])]
}
