//! What is said of UnixBench's tests: the record on which a sentence appears, and the twin on which it must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::{Better, Figure, Record, Unit};

/// A test of a class with so many copies.
pub fn test(name: &str, class: &str, copies: f64, values: &[f64]) -> Figure {
    let mut figure = bandwidth("read", "none", values);
    figure.id = if copies > 1.0 { format!("system.{name}.x{copies}") } else { format!("system.{name}") };
    (figure.unit, figure.better, figure.convention) = (Unit::LPS, Better::Higher, None);
    figure.conditions = Default::default();
    figure.conditions.set(TEST, name.to_owned());
    figure.conditions.set(TEST_CLASS, class.to_owned());
    figure.conditions.set(COPIES, copies);
    figure
}

/// One copy and two of a test; on two CPUs.
pub fn pair(class: &str, one: &[f64], two: &[f64]) -> Record {
    let mut record = record(vec![test("pipe", class, 1.0, one), test("pipe", class, 2.0, two)]);
    record.machine.topology.allowed = "0-1".parse().unwrap();
    record
}

#[test]
fn copies_are_held_against_one() {
    let of = |class: &str, two: f64| pair(class, &six(100.0), &six(two));
    let id = "system.pipe.x2";
    says(
        &of("syscall", 200.0),
        id,
        &["2 copies do 2.00x of one copy (system.pipe: 100 lps)", "is not the limit"],
    );
    says(&of("syscall", 150.0), id, &["1.50x", "each 75 % of what one does alone", "shared"]);
    says(&of("syscall", 300.0), id, &["3.00x", "one copy was held up"]);
    says(&of("switching", 300.0), id, &["3.00x", "placement, not speed"]);
    assert!(!why(&of("switching", 150.0), id).contains("placement"));
    let noisy = pair("syscall", &six(100.0), &[100.0, 300.0, 120.0, 280.0, 110.0, 250.0]);
    says(&noisy, id, &["differ too much to tell"]);
    let mut more = of("syscall", 100.0);
    more.machine.topology.allowed = "0".parse().unwrap();
    says(&more, id, &["2 copies on 1 CPU do", "take turns"]);
    let mut alone = of("syscall", 200.0);
    alone.figures.remove(0);
    assert!(!why(&alone, id).contains("of one copy"));
}

#[test]
fn a_file_copy_says_that_it_measures_the_page_cache() {
    let of = |class: &str, waited: Option<f64>| {
        let mut figure = test("fstime", class, 1.0, &six(100.0));
        for round in &mut figure.rounds {
            match waited {
                Some(share) => round.evidence.put(PSI_IO, share * round.duration),
                None => round.evidence.put_unknown(PSI_IO, "no pressure information"),
            }
        }
        record(vec![figure])
    };
    says(&of("files", Some(0.0)), "system.fstime", &["within the page cache", "a device is ruled out"]);
    says(&of("files", Some(0.3)), "system.fstime", &["waited for a device 30 % of the time"]);
    says(&of("files", None), "system.fstime", &["could not be observed"]);
    let on = |kind: &str| {
        let mut record = of("files", Some(0.0));
        record.figures[0].evidence.put(FS_TYPE, kind.to_owned());
        record
    };
    says(&on("tmpfs"), "system.fstime", &["within memory", "on a tmpfs, which has no device"]);
    says(&on("ext4"), "system.fstime", &["within the page cache"]);
    assert!(!why(&of("syscall", Some(0.0)), "system.fstime").contains("page cache"));
}

#[test]
fn what_a_test_rests_on_besides_the_machine_is_told() {
    let of = |class: &str, put: fn(&mut figure::Evidence)| {
        let mut figure = test("any", class, 1.0, &six(100.0));
        put(&mut figure.evidence);
        why(&record(vec![figure]), "system.any").to_owned()
    };
    let bytewise = of("shell", |evidence| shell_in(evidence, "C (there is no en_US.utf8)"));
    assert!(
        bytewise.contains("/usr/bin/dash") && bytewise.contains("en_US.utf8): byte by byte"),
        "{bytewise}"
    );
    let collated = of("shell", |evidence| shell_in(evidence, "en_US.utf8"));
    assert!(collated.contains("en_US.utf8: by the collation of a language"), "{collated}");
    let of_no_language = of("shell", |evidence| shell_in(evidence, "C.UTF-8"));
    assert!(of_no_language.contains("C.UTF-8: byte by byte"), "{of_no_language}");
    let process = of("process", |evidence| {
        evidence.put(CELL_BYTES, 51e3);
        evidence.put(CELL_LINKAGE, "dynamic".to_owned());
        evidence.put(CELL_LIBRARIES, 1.0);
    });
    assert!(process.contains("a dynamic program of") && process.contains("1 needed library:"), "{process}");
    let mut figure = test("any", "process", 1.0, &six(100.0));
    figure.evidence.put(CELL_BYTES, 51e3);
    figure.evidence.put(CELL_LINKAGE, "static".to_owned());
    figure.evidence.put(CELL_LIBRARIES, 0.0);
    figure.rounds.iter_mut().for_each(|round| round.evidence.put(COPY_RESIDENT, 1048576.0));
    says(
        &record(vec![figure]),
        "system.any",
        &["a static program of", "0 needed libraries, 1 MiB resident:"],
    );
    let compute = of("compute", |evidence| evidence.put(LIBC, "glibc 2.36".to_owned()));
    assert!(compute.contains("those of glibc 2.36:"), "{compute}");
    let chosen = of("compute", |evidence| {
        evidence.put(LIBC, "glibc 2.36".to_owned());
        evidence.put(LIBC_STRCMP, "__strcmp_avx2".to_owned());
    });
    assert!(chosen.contains("those of glibc 2.36 (strcmp at __strcmp_avx2):"), "{chosen}");
    let nothing = of("compute", |evidence| evidence.put_unknown(LIBC, "not told"));
    assert!(!nothing.contains("functions are those"), "{nothing}");
}

fn shell_in(evidence: &mut figure::Evidence, collate: &str) {
    evidence.put(SHELL, "/usr/bin/dash".to_owned());
    evidence.put(LOCALE_COLLATE, collate.to_owned());
}
