//! `truebench audit`: what other tools printed.

use std::io::Write;
use std::process::{Output, Stdio};

use figure::{Outcome, Record, Verdict};

use crate::bench::{figure, record, run, stderr, stdout, truebench};

/// A published text (crates/audit/tests/data).
fn data(name: &str) -> String {
    format!("{}/../audit/tests/data/{name}.txt", env!("CARGO_MANIFEST_DIR"))
}

/// All published texts, and two for what they lack: alloc-test's line, and threads of sysbench that differ.
pub fn short() -> Record {
    let directory = tempfile::tempdir().unwrap();
    let made = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let alloc = "Short test summary for 'ithare' with maxItems 1000\n1,1000,200,1,1,1,1,1,1,1,1.25\n";
    let threads = std::fs::read_to_string(data("sysbench-145")).unwrap();
    let threads = threads + "Threads fairness:\n    events (avg/stddev):           1000.0000/20.00\n";
    let pipelined = "wrk -t1 -c1 -d1s -s pipeline.lua http://127.0.0.1/ -- 16\nRunning 1s test @ http://127.0.0.1/\n  1 threads and 1 connections\n  \
        Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.00ms    0.10ms   2.00ms   90.00%\n    Req/Sec    16.00k     \
        1.00k   17.00k    90.00%\n  16000 requests in 1.00s, 2.00MB read\nRequests/sec:  16000.00\nTransfer/sec:      2.00MB\n";
    let known = |name: &str| std::fs::read_to_string(data(name)).unwrap();
    let late = known("unixbench-1169").replace("(10.0 s", "(16.0 s");
    let times: Vec<f64> =
        (0..20).map(|run| if run % 2 == 0 { 0.01 } else { 0.02 } + 1e-5 * f64::from(run)).collect();
    let modes = serde_json::json!({"results": [{"command": "make", "mean": 0.015095, "stddev": 0.005135, "median": 0.01514, "user": 0.01,
        "system": 0.002, "min": 0.01, "max": 0.02019, "times": times, "exit_codes": vec![0; 20]}]});
    let impossible = known("hey-227").replace("Fastest:      0.0000", "Fastest:      9999.0");
    let all = std::fs::read_dir(format!("{}/../audit/tests/data", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let all = all.map(|entry| entry.unwrap().path().to_str().unwrap().to_owned());
    let files: Vec<String> = all
        .chain([
            made("alloc.txt", alloc.to_owned()),
            made("threads.txt", threads),
            made("pipelined.txt", pipelined.to_owned()),
            made("late.txt", late),
            made("modes.json", modes.to_string()),
            made("impossible.txt", impossible),
        ])
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    record(&run(&[&["audit", "--cores", "36", "--format", "json"], &files[..]].concat()))
}

fn from_stdin(text: &[u8], arguments: &[&str]) -> Output {
    piped(&[&["audit"], arguments].concat(), text)
}

/// What a command says of a text in standard input.
fn piped(arguments: &[&str], text: &[u8]) -> Output {
    let mut child = truebench(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("truebench starts");
    // It may refuse before it has read all.
    let _ = child.stdin.take().expect("a pipe").write_all(text);
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_text_is_judged_and_its_cause_named() {
    let output = run(&["audit", &data("hey-166-2m")]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["results-truncated", "first million", "mean latency by hey", "environment-unknown"] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn options_supply_what_the_text_lacks() {
    let stream = data("stream-icelake");
    let of = |options: &[&str]| record(&run(&[&["audit", &stream, "--format", "json"], options].concat()));
    let outcome = |options: &[&str], id: &str| {
        let record = of(options);
        let found = figure(&record, "audit.stream.triad").checks.iter().find(|check| check.id == id);
        found.map(|check| check.outcome)
    };
    assert_eq!(outcome(&[], "array-size"), Some(Outcome::Unknown));
    assert_eq!(outcome(&["--llc", "78M"], "array-size"), Some(Outcome::Pass));
    assert_eq!(outcome(&["--llc", "1G"], "array-size"), Some(Outcome::Warn));
    assert_eq!(outcome(&["--dimms", "16x3200"], "above-limit"), Some(Outcome::Pass));
    assert_eq!(outcome(&["--dimms", "4x3200"], "above-limit"), Some(Outcome::Fail));
    assert_eq!(outcome(&["--cores", "36"], "threads-even"), Some(Outcome::Pass));
    let best = of(&["--llc", "78M", "--dimms", "16x3200", "--cores", "36"]);
    let triad = figure(&best, "audit.stream.triad");
    assert_eq!(triad.verdict, Some(Verdict::Valid), "all that matters is known: {:#?}", triad.checks);
    assert_eq!(triad.explanations[0].case, "unknown-stores");
}

#[test]
fn a_record_of_the_machine_says_the_same_as_options() {
    let directory = tempfile::tempdir().unwrap();
    let host = directory.path().join("host.json");
    let host = host.to_str().unwrap();
    // Any record has its machine; this one's caches are stated.
    let mut machine = record(&run(&["audit", &data("stream-s100"), "--dimms", "2x6400", "--format", "json"]));
    machine.machine.topology.cpus =
        vec![figure::host::LogicalCpu { cpu: 0, core: 0, ..figure::host::LogicalCpu::default() }];
    machine.machine.caches.instances = vec![figure::host::Cache {
        level: 3,
        kind: figure::host::CacheKind::Unified,
        size: 64 << 20,
        line: None,
        ways: None,
        cpus: "0".parse().unwrap(),
    }];
    std::fs::write(host, serde_json::to_vec(&machine).unwrap()).unwrap();
    let judged = record(&run(&["audit", &data("stream-sg2042"), "--host", host, "--format", "json"]));
    let triad = figure(&judged, "audit.stream.triad");
    let array = triad.checks.iter().find(|check| check.id == "array-size").unwrap();
    assert_eq!(array.outcome, Outcome::Warn, "{array:?}");
    assert!(triad.checks.iter().any(|check| check.id == "above-limit" && check.outcome == Outcome::Pass));
}

#[test]
fn standard_input_and_several_files_are_read() {
    let text = std::fs::read(data("wrk-119")).unwrap();
    let judged = record(&from_stdin(&text, &["--format", "json"]));
    assert_eq!(figure(&judged, "audit.wrk.mean").verdict, Some(Verdict::Invalid));
    let several = record(&run(&["audit", &data("wrk-119"), &data("ab-93"), "--format", "json"]));
    assert!(several.figure("audit.wrk.rate").is_some() && several.figure("audit.ab.rate").is_some());
    // The record is one like any other.
    let again = record(&from_stdin(&text, &["--format", "json"]));
    assert_eq!(again.figures, judged.figures);
}

#[test]
fn what_is_of_no_known_tool_is_refused_and_the_list_names_the_tools() {
    let unknown = from_stdin(b"score: 42\nall is well\n", &[]);
    assert_eq!(unknown.status.code(), Some(2));
    let message = stderr(&unknown);
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.len() < 160, "{message}");
    for part in ["stdin", "no known tool", "2 lines", "score: 42", "truebench audit --list"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let list = run(&["audit", "--list"]);
    assert_eq!(list.status.code(), Some(0));
    for tool in ["STREAM", "UnixBench", "sysbench memory", "iperf3"] {
        assert!(stdout(&list).lines().any(|line| line == tool), "{tool}: {}", stdout(&list));
    }
    let cut = from_stdin(b"$ ./stream\nSTREAM version $Revision: 5.10 $\n", &[]);
    assert_eq!(cut.status.code(), Some(2));
    assert!(stderr(&cut).contains("line 2") && stderr(&cut).contains("Copy, Scale"), "{}", stderr(&cut));
    for (arguments, part) in [
        (&["audit", "/nonexistent.txt"][..], "/nonexistent.txt"),
        (&["audit", "--llc", "many", "x"], "33M"),
        (&["audit", "--connections", "0", "x"], "above zero"),
        (&["audit", "--host", "/nonexistent.json"], "/nonexistent.json"),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&refused).contains(part), "{arguments:?}: {}", stderr(&refused));
    }
    let large = from_stdin(&vec![b'x'; (8 << 20) + 10], &[]);
    assert_eq!(large.status.code(), Some(2));
    assert!(stderr(&large).contains("no known tool"), "{}", stderr(&large));
}

/// A log of so many bytes with a run of wrk in its middle.
fn log_with_a_run(bytes: usize) -> Vec<u8> {
    let text = std::fs::read_to_string(data("wrk-119")).unwrap();
    let line = "2024-05-23T10:45:02.148Z worker[17] GET /index.html 200 0.003 s\n";
    let half = line.repeat(bytes / 2 / line.len());
    [half.as_bytes(), text.as_bytes(), half.as_bytes()].concat()
}

#[test]
fn a_run_in_a_large_log_is_judged_as_alone() {
    let log = log_with_a_run(24 << 20);
    let found = record(&from_stdin(&log, &["--format", "json"]));
    assert_eq!(found.figures, record(&run(&["audit", &data("wrk-119"), "--format", "json"])).figures);
}

/// Ten seconds and 200 MB for a gigabyte.
#[test]
#[ignore = "writes a gigabyte: make test-long"]
fn a_gigabyte_of_log_is_read_in_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.txt");
    std::fs::write(&path, log_with_a_run(1 << 30)).unwrap();
    let program = truebench(&[]).get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg("ulimit -v 200000; exec \"$@\"").arg("sh").arg(program).arg("audit").arg(&path);
    let judged = command.output().unwrap();
    assert!(stdout(&judged).contains("littles-law"), "{}", stderr(&judged));
}

#[test]
fn a_dash_is_standard_input_and_marks_of_the_byte_order_are_no_text() {
    let text = std::fs::read_to_string(data("wrk-119")).unwrap();
    let judged = run(&["audit", &data("wrk-119"), "--format", "json"]);
    let json = stdout(&judged);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.json");
    std::fs::write(&path, &json).unwrap();
    let path = path.to_str().unwrap();
    let utf16 = |text: &str| -> Vec<u8> {
        format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let marked = |text: &str| [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    for text in [text.clone().into_bytes(), marked(&text), utf16(&text)] {
        let again = record(&piped(&["audit", "-", "--format", "json"], &text));
        assert_eq!(again.figures, record(&judged).figures);
    }
    for json in [json.clone().into_bytes(), marked(&json), utf16(&json)] {
        let again = piped(&["report", "-", "--format", "json"], &json);
        assert_eq!(record(&again).figures, record(&judged).figures, "{}", stderr(&again));
        let compared = piped(&["compare", "-", path, "--force", "--format", "json"], &json);
        assert_eq!(stderr(&compared), stderr(&run(&["compare", path, path, "--force", "--format", "json"])));
        let host = piped(&["audit", &data("wrk-119"), "--host", "-"], &json);
        assert_ne!(host.status.code(), Some(2), "{}", stderr(&host));
    }
    for arguments in [&["compare", "-", "-"][..], &["audit", "-", "-"], &["audit", "-", "--host", "-"]] {
        let refused = piped(arguments, json.as_bytes());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&refused).contains("once"), "{arguments:?}: {}", stderr(&refused));
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    // Less memory than a record may have bytes.
    const KIB: u64 = 230_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.json");
    std::fs::File::create(&path).unwrap().set_len(2 << 30).unwrap();
    let path = path.to_str().unwrap();
    for arguments in [&["report", path][..], &["compare", path, path], &["audit", "x", "--host", path]] {
        let program = truebench(&[]).get_program().to_owned();
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {KIB}; exec \"$@\"")).arg("sh").arg(program).args(arguments);
        let refused = command.output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("larger"), "{arguments:?}: {}", stderr(&refused));
    }
}
