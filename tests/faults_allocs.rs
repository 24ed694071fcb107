//! `truebench faults --allocs -- COMMAND`: which faults are in which large blocks, and that programs into which nothing can be
//! preloaded are reported.

use std::path::{Path, PathBuf};
use std::process::Command;

use faults::blocks::{IN_BLOCKS, SERIES};
use figure::evidence::{
    BLOCK_AGE, BLOCK_CALLS, BLOCK_FREED, BLOCK_LEAST, BLOCK_MOST, BLOCK_SITE, BLOCKS_LOST, BLOCKS_PROGRAMS,
    BLOCKS_RECORDED, BLOCKS_STACKS, SITE_CALLS,
};
use figure::{Figure, Record, Status};

use crate::bench::{figure, run, stderr, stdout, streamed, truebench};

/// Two that allocate, of different sizes, and two that touch; blocks that stay; a child that touches its parent's.
const SOURCE: &str = r#"
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
#define KEEP(block) __asm__ volatile("" : "+r"(block) : : "memory")
static OWN char *make_answer(void) { char *block = malloc(2 << 20); KEEP(block); return block; }
static OWN char *make_table(void) { char *block = aligned_alloc(4096, 1 << 20); KEEP(block); return block; }
static OWN char *make_zeros(void) { char *block = calloc(3, 1 << 20); KEEP(block); return block; }
static OWN void fill(volatile char *block, long bytes) { for (long at = 0; at < bytes; at += 4096) block[at] = 1; }
static OWN void fill_table(volatile char *block) { for (long at = 0; at < 1 << 20; at += 4096) block[at] = 2; }
static OWN char *grow(void) {
    char *block = 0;
    for (long size = 1 << 20; size <= 8 << 20; size += 1 << 20) {
        block = realloc(block, size);
        fill(block + size - (1 << 20), 1 << 20);
    }
    KEEP(block);
    return block;
}
static void *work(void *times) {
    for (long i = 0; i < (long)times; i++) {
        char *answer = make_answer(), *table = make_table();
        fill(answer, 2 << 20);
        fill_table(table);
        free(answer);
        free(table);
    }
    return 0;
}
int main(int count, char **words) {
    const char *mode = count > 1 ? words[1] : "churn";
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 65536); /* each block is faulted in anew */
#endif
    if (!strcmp(mode, "churn")) work((void *)300);
    if (!strcmp(mode, "threads")) {
        pthread_t all[8];
        for (int t = 0; t < 8; t++) pthread_create(&all[t], 0, work, (void *)60);
        for (int t = 0; t < 8; t++) pthread_join(all[t], 0);
    }
    if (!strcmp(mode, "grow")) for (int i = 0; i < 40; i++) grow();
    if (!strcmp(mode, "zeros")) for (int i = 0; i < 200; i++) { char *zeros = make_zeros(); fill(zeros, 3 << 20); }
    if (!strcmp(mode, "small")) for (int i = 0; i < 20000; i++) { char *block = malloc(4000); KEEP(block); *block = 1; }
    if (!strcmp(mode, "child")) {
        char *blocks[100];
        for (int b = 0; b < 100; b++) { blocks[b] = make_answer(); fill(blocks[b], 2 << 20); }
        for (int child = 0; child < 5; child++) {
            if (fork() == 0) {
                for (int b = 0; b < 100; b++) fill_table(blocks[b]);
                kill(getpid(), 9);
            }
            wait(0);
        }
    }
    printf("preloaded: %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
    return 0;
}
"#;

/// Builds it in a directory.
fn built(directory: &Path, flags: &[&str]) -> PathBuf {
    let (file, program) = (directory.join("blocks.c"), directory.join("blocks"));
    std::fs::write(&file, format!("#define _GNU_SOURCE\n#include <signal.h>\n{SOURCE}")).unwrap();
    let done = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&file).arg("-pthread").status();
    assert!(done.expect("a C compiler").success());
    program
}

const FLAGS: &[&str] = &["-O2", "-g", "-fomit-frame-pointer"];

/// The record of a command; `None`, with a message, if the kernel's events are not available.
fn watched(asked: &str, command: &[&str]) -> Option<Record> {
    let output = run(&[&["faults", "--no-prices", asked, "--format", "json", "--"], command].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = streamed(&stderr(&output));
    if figure(&record, "faults.coverage").value.is_none() {
        let reason = figure(&record, IN_BLOCKS).reason.clone().unwrap_or_default();
        assert!(reason.starts_with("where faults come from: "), "{reason}");
        return None;
    }
    Some(record)
}

/// The program in a mode.
fn mode(mode: &str) -> Option<Record> {
    let directory = tempfile::tempdir().unwrap();
    let program = built(directory.path(), FLAGS);
    watched("--allocs", &[program.to_str().unwrap(), mode])
}

fn rows(record: &Record) -> Vec<&Figure> {
    record.figures.iter().filter(|figure| figure.series.as_deref() == Some(SERIES)).collect()
}

/// The row of blocks that are allocated by a function.
fn by<'a>(record: &'a Record, function: &str) -> &'a Figure {
    let site = |figure: &Figure| figure.conditions.get(BLOCK_SITE).unwrap_or_default();
    let found = rows(record).into_iter().find(|figure| site(figure).starts_with(function));
    found
        .unwrap_or_else(|| panic!("{function}: {:?}", rows(record).into_iter().map(site).collect::<Vec<_>>()))
}

fn fact(figure: &Figure, key: figure::evidence::Key<f64>) -> f64 {
    figure.evidence.get(key).into_value().unwrap_or_else(|| panic!("{}: no {}", figure.id, key.name))
}

#[test]
fn who_allocates_and_who_touches_are_joined() {
    let Some(record) = mode("churn") else { return };
    let (answer, table) = (by(&record, "make_answer"), by(&record, "make_table"));
    let calls = |figure: &Figure, key| -> String { figure.conditions.get(key).unwrap() };
    assert!(calls(answer, SITE_CALLS).starts_with("fill < work"), "{answer:?}");
    assert!(calls(table, SITE_CALLS).starts_with("fill_table < work"), "{table:?}");
    assert!(calls(answer, BLOCK_CALLS).starts_with("make_answer < work"), "{answer:?}");
    assert!(calls(answer, BLOCK_SITE).contains("blocks.c:"), "{answer:?}");
    // Two to one in bytes, each touched whole; a period may go in step with the loop for a while.
    let (first, second) = (answer.value.unwrap(), table.value.unwrap());
    assert!(first > 0.1 && second > 0.05 && first + second > 0.8, "{first} {second}");
    let size = |figure| (fact(figure, BLOCK_LEAST), fact(figure, BLOCK_MOST));
    let mib = 1048576.0;
    assert_eq!((size(answer), size(table)), ((2.0 * mib, 2.0 * mib), (mib, mib)));
    for row in [answer, table] {
        assert!(fact(row, BLOCK_FREED) > 0.9 && fact(row, BLOCK_AGE) < 0.5, "{row:?}");
    }
    let whole = figure(&record, IN_BLOCKS);
    assert!(whole.value.unwrap() > 0.9, "{whole:?}");
    assert_eq!((fact(whole, BLOCKS_RECORDED), fact(whole, BLOCKS_LOST)), (600.0, 0.0));
    assert!(fact(whole, BLOCKS_STACKS) > 100.0 && fact(whole, BLOCKS_PROGRAMS) == 1.0);
    let found = record.findings.iter().find(|finding| finding.rule == "blocks").expect("a finding");
    let site = found.values["site"].as_str().unwrap();
    assert!(site.starts_with("make_answer (blocks.c:") && found.values["size"] == 2.0 * mib, "{found:?}");
}

#[test]
fn threads_growth_and_zeros() {
    if let Some(record) = mode("threads") {
        let (answer, table) = (by(&record, "make_answer"), by(&record, "make_table"));
        let sum = answer.value.unwrap() + table.value.unwrap();
        assert!(sum > 0.8, "{sum}: {:?}", rows(&record));
        assert_eq!(fact(figure(&record, IN_BLOCKS), BLOCKS_RECORDED), 960.0);
    }
    // What realloc copies, and calloc zeroes, is touched before the block is known.
    if let Some(record) = mode("grow") {
        let sum: f64 = rows(&record).iter().filter_map(|row| row.value).sum();
        assert!(sum > 0.8 && by(&record, "grow").value.is_some(), "{sum}");
    }
    if let Some(record) = mode("zeros") {
        let zeros = by(&record, "make_zeros");
        assert!(zeros.value.unwrap() > 0.8 && fact(zeros, BLOCK_FREED) == 0.0, "{zeros:?}");
        assert_eq!(fact(zeros, BLOCK_LEAST), 3.0 * 1048576.0);
    }
}

#[test]
fn a_child_has_the_blocks_of_its_parent() {
    let Some(record) = mode("child") else { return };
    let answer = by(&record, "make_answer");
    let coverage = figure(&record, "faults.coverage").value;
    // Five children copy 256 pages of each of the 100 blocks, of which the parent filled 512: 0.71.
    let copied = answer.parts.iter().find(|part| part.name.starts_with("fill_table"));
    assert!(copied.is_some_and(|part| part.share > 0.4), "coverage {coverage:?}: {answer:?}");
    assert!(answer.value.unwrap() > 0.9, "coverage {coverage:?}: {answer:?}");
}

#[test]
fn what_is_small_is_elsewhere_and_the_threshold_is_the_users() {
    let directory = tempfile::tempdir().unwrap();
    let program = built(directory.path(), FLAGS);
    let program = program.to_str().unwrap();
    if let Some(record) = watched("--allocs", &[program, "small"]) {
        let whole = figure(&record, IN_BLOCKS);
        assert_eq!((whole.value, fact(whole, BLOCKS_RECORDED)), (Some(0.0), 0.0));
        assert!(whole.parts[1].share > 0.99 && rows(&record).is_empty(), "{whole:?}");
    }
    if let Some(record) = watched("--allocs=1.5MiB", &[program, "churn"]) {
        assert!(rows(&record).iter().all(|row| fact(row, BLOCK_LEAST) >= 1.5 * 1048576.0));
        assert_eq!(fact(figure(&record, IN_BLOCKS), BLOCKS_RECORDED), 300.0);
    }
}

#[test]
fn programs_without_preloading_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let program = built(directory.path(), &["-O2", "-static"]);
    let program = program.to_str().unwrap();
    if let Some(record) = watched("--allocs", &[program, "churn"]) {
        let whole = figure(&record, IN_BLOCKS);
        assert_eq!(whole.status, Status::NotAvailable);
        assert!(whole.reason.as_deref().unwrap().contains("blocks is linked statically"), "{whole:?}");
        assert!(figure(&record, "faults.minor").value.is_some() && rows(&record).is_empty());
    }
    // The shell is recorded, its children are not.
    let script = format!("{program} churn; true");
    if let Some(record) = watched("--allocs", &["sh", "-c", &script]) {
        let whole = figure(&record, IN_BLOCKS);
        assert!(whole.parts[2].share > 0.9, "{whole:?}");
    }
    if let Some(record) =
        watched("--allocs", &["env", "-i", "/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done"])
    {
        assert!(figure(&record, IN_BLOCKS).parts[2].share > 0.5);
    }
}

#[test]
fn what_is_preloaded_anyway_stays_behind_the_recorder() {
    let directory = tempfile::tempdir().unwrap();
    let program = built(directory.path(), FLAGS);
    let (source, library) = (directory.path().join("own.c"), directory.path().join("own.so"));
    // An allocator of the user's, that says so.
    let own = "#include <stddef.h>\n#include <unistd.h>\nvoid *__libc_malloc(size_t);\nvoid *malloc(size_t size) {\n\
               if (size == 2 << 20) write(2, \"own\\n\", 4);\nreturn __libc_malloc(size); }\n";
    std::fs::write(&source, own).unwrap();
    let done = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-fno-builtin", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    if !cfg!(target_env = "gnu") || !done.is_ok_and(|status| status.success()) {
        return;
    }
    let mut command = truebench(&["faults", "--no-prices", "--allocs", "-q", "-o", "/dev/null", "--"]);
    let output = command.arg(&program).arg("churn").env("LD_PRELOAD", &library).output().unwrap();
    let text = stdout(&output);
    let preloaded = text.lines().find_map(|line| line.strip_prefix("preloaded: ")).unwrap();
    let (recorder, preloaded_before) = preloaded.split_once(':').expect("two");
    assert!(
        recorder.ends_with("libtruebench_recorder.so") && Path::new(preloaded_before) == library,
        "{preloaded}"
    );
    assert_eq!(stderr(&output).matches("own\n").count(), 300, "its malloc serves");
}

#[test]
fn a_process_that_runs_cannot_be_asked() {
    let wrong = |arguments: &[&str], words: &str| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words) && stdout(&output).is_empty(), "{}", stderr(&output));
    };
    wrong(&["faults", "--allocs", "-p", "1"], "nothing can be preloaded into process 1, which runs");
    wrong(&["faults", "--allocs", "--rates", "--", "true"], "--rates");
    wrong(&["faults", "--allocs", "--prove", "--", "true"], "--prove");
    wrong(&["faults", "--allocs=12", "--", "true"], "no size of a block");
    wrong(&["faults", "--allocs"], "needs a program");
}

#[test]
fn the_report_names_the_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let program = built(directory.path(), FLAGS);
    let output = run(&["faults", "--allocs", "--", program.to_str().unwrap(), "churn"]);
    let text = stderr(&output);
    assert!(text.contains("Which large blocks they are in (64 KiB and more"), "{text}");
    if !text.contains("where faults come from: ") {
        assert!(text.contains("2 MiB: allocated by make_answer < work"), "{text}");
        assert!(text.contains("touched first by fill < work"), "{text}");
    }
}
