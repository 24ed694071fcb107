//! Bad input gets one clear message and exit code 2, before anything is measured.

use crate::bench::{SMALL, run, stderr, stdout, truebench};

/// Runs with these arguments, expects wrong usage, and returns the message.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(stdout(&output).is_empty(), "{arguments:?}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

#[test]
fn wrong_usage_is_reported_in_one_line() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["memory", "--array-size", "1"], &["--array-size 1", "at least"]),
        (&["memory", "--array-size", "9999G"], &["--array-size", "at most"]),
        (&["memory", "--threads", "0"], &["--threads 0", "at least one"]),
        (&["memory", "--threads", "100000"], &["--threads 100000", "at most"]),
        (&["memory", "--places", "9999"], &["CPU 9999", "does not exist"]),
        (&["memory", "--kernel", "update", "--stores", "nt"], &["update", "no such figure"]),
        (&["memory", "-o", "/nonexistent/x.json"], &["/nonexistent/x.json", "cannot be written"]),
        (&["memory", "--format", "stream", "--kernel", "read"], &["--format stream", "copy"]),
        (&["memory", "latency", "--format", "stream"], &["--format stream", "memory bandwidth"]),
        (&["memory", "--format", "svg"], &["--format svg", "memory scaling"]),
        (&["memory", "-o", "/"], &["-o /", "directory"]),
        (&["memory", "--dry-run", "-o", "/"], &["-o /", "directory"]),
        (&["faults", "--prove", "-o", "/", "--", "true"], &["-o /", "directory"]),
        (&["host", "--root", "/nonexistent"], &["/nonexistent", "no such"]),
        (
            &["host", "--capture", "x.tar.zst", "--format", "json"],
            &["--format has no effect with host --capture"],
        ),
        (
            &["memory", "all", "--only", "latency,c2c", "--kernel", "copy"],
            &[
                "--kernel has no effect with memory latency, memory c2c",
                "it is for memory bandwidth, memory scaling",
            ],
        ),
        (
            &["memory", "--schedule", "static"],
            &["--schedule has no effect with memory bandwidth", "memory scaling"],
        ),
        (&["memory", "latncy"], &["memory: no mode 'latncy'", "bandwidth, mix, scaling", "inspect"]),
        (&["memory", "--quick", "latency"], &["the mode comes first: truebench memory latency"]),
        (
            &["faults", "true"],
            &["faults: no mode 'true'", "demo, prices, walk", "truebench faults -- COMMAND"],
        ),
        (&["nonsense"], &["no command 'nonsense'", "memory, system"]),
        (&["system", "switch", "-c", "2"], &["--copies has no effect with system switch"]),
        (&["system", "switch", "pipe"], &["TEST has no effect with system switch", "system index"]),
        (&["system", "cross-check"], &["--with DIR"]),
        (&["http", "--token", "0123456789abcdef0123456789abcdef"], &["--token has no effect", "--remote"]),
        (
            &["http", "load", "--url", "http://127.0.0.1:9/", "--insecure"],
            &["--insecure has no effect", "http://"],
        ),
        (&["run", "--resume", "/nonexistent", "--strict"], &["--strict has no effect with run --resume"]),
        (&["report", "/nonexistent.json"], &["/nonexistent.json", "cannot be read"]),
        (&["explain", "no-such-check"], &["no such check or term"]),
    ];
    for (arguments, parts) in cases {
        let message = refused(arguments);
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.starts_with("truebench: "), "{message}");
        for part in *parts {
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

#[test]
fn what_is_no_value_is_refused_by_name() {
    let cases: &[(&[&str], &str)] = &[
        (&["memory", "--array-size", "many"], "10M"),
        (&["memory", "--max-time", "soon"], "30s"),
        (&["memory", "--target", "200%"], "2%"),
        (&["memory", "--rounds", "0"], "--rounds"),
        (&["memory", "--pages", "4m"], "huge2m"),
        (&["memory", "--places", "core"], "cores"),
        (&["memory", "--bind", "near"], "spread"),
        (&["memory", "--simd", "mmx"], "portable, sse2"),
        (&["memory", "--kernel", "fma"], "copy, scale"),
        (&["memory", "--dimms", "lots"], "--dimms"),
        (&["memory", "--format", "xml"], "[possible values: text"),
        (&["memory", "--quick", "--thorough"], "cannot be used with"),
        (&["memory", "--nonsense"], "--nonsense"),
        (&["memory", "--rounds", "7", "--target", "2%"], "cannot be used with"),
        (&["system", "pipe", "--dir", "/nonexistent"], "no such directory"),
        (&["faults", "prices", "--dir", "/nonexistent"], "no such directory"),
        (&["http", "load", "--url", "http://127.0.0.1:0/"], "port 0"),
        (&["http", "load", "--url", "http://127.0.0.1:9/", "-R", "1e99"], "no rate"),
        (&["http", "load", "--url", "http://127.0.0.1:9/", "-H", "A: b\r\nC: d"], "no header line"),
        (&["http", "load", "--url", "http://127.0.0.1:9/", "-H", "A b: c"], "no header line"),
        (&["memory", "inspect", "/bin/true", "--threads", "1"], "unexpected argument '--threads'"),
        (&["alloc", "list", "--quick"], "unexpected argument '--quick'"),
        (&["system", "swich"], "the modes are index, switch"),
        (&["system", "pipe", "switch"], "a mode comes first: truebench system switch"),
        (&["alloc", "lst"], "the modes are load, list, try, record"),
    ];
    for (arguments, part) in cases {
        let message = refused(arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn a_short_start_and_a_page_of_each_mode() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("    truebench ")).collect();
    assert_eq!(commands.len(), 3, "{text}");
    for mode in [&["system", "switch"][..], &["memory", "latency"], &["alloc", "try"], &["http", "load"]] {
        let page = stdout(&run(&[mode, &["--help"]].concat()));
        assert!(page.contains(&format!("Usage: truebench {}", mode.join(" "))), "{page}");
        // Wherever its lines are cut.
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Examples:") && words.contains("[possible values: text"), "{page}");
    }
    let page = stdout(&run(&["memory", "latency", "--help"]));
    assert!(page.contains("--sizes") && !page.contains("--schedule") && !page.contains("--kernel"), "{page}");
}

#[test]
fn a_dry_run_prints_the_plan_and_measures_nothing() {
    let output = run(&[SMALL, &["--dry-run", "--threads", "1"]].concat());
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("3 x 200000 elements of 1.5 MiB each"), "{text}");
    assert!(text.contains("memory.triad.nt.doubled"), "{text}");
    assert!(text.contains("exactly 6"), "{text}");
}

#[test]
fn explain_lists_and_shows() {
    let list = stdout(&run(&["explain"]));
    assert!(list.contains("array-size") && list.contains("write-allocate"), "{list}");
    let (size, both) =
        (run(&["explain", "array-size"]), run(&["explain", "doubling", "first", "touch", "foreign-load"]));
    assert!(stdout(&size).starts_with("array-size\n\n"), "{}", stdout(&size));
    assert!(
        !stdout(&size).contains(['`', '*']) && stdout(&size).lines().all(|line| line.chars().count() <= 80)
    );
    let text = stdout(&both);
    let places: Vec<Option<usize>> =
        ["doubling\n", "first touch", "foreign-load\n"].iter().map(|name| text.find(name)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {text}");
    for (typed, meant) in [("array-sizes", "'array-size'"), ("foriegn-load", "'foreign-load'")] {
        assert!(refused(&["explain", typed]).contains(meant), "{typed}");
    }
    // Every word of the glossary.
    let names: Vec<&str> = judge::terms::all().map(|term| term.name()).collect();
    let all = run(&[&["explain"], &names[..]].concat());
    assert_eq!(all.status.code(), Some(0), "{}", stderr(&all));
    assert!(stdout(&run(&["explain", "first", "touch"])).to_lowercase().contains("first"));
    assert!(stdout(&run(&["explain", "quota"])).contains("\n\nquota, CPU quota, throttling. A cgroup's"));
}

#[test]
fn lists_keep_within_the_width() {
    for arguments in [&["selftest", "--list"][..], &["faults", "demo", "--list"]] {
        for width in [60, 80] {
            let output = truebench(arguments).env("COLUMNS", width.to_string()).output().expect("its output");
            let text = stdout(&output);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(output.status.success() && widest <= Some(width), "{text}");
        }
    }
}

#[test]
fn version_and_completions() {
    assert!(stdout(&run(&["--version"])).starts_with("truebench "));
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&run(&["completions", shell]));
        // Modes, formats, kernels; and operands, which fish's scripts leave out: tests, allocators, checks.
        let operands: &[&str] = if shell == "fish" { &[] } else { &["context1", "jemalloc", "array-size"] };
        for word in ["cross-check", "junit", "triad"].iter().chain(operands) {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn a_manual_page_for_each_command() {
    let page = stdout(&run(&["man"]));
    assert!(page.contains(".TH truebench 1") && page.contains("truebench\\-memory(1)"), "{page}");
    let page = stdout(&run(&["man", "memory"]));
    assert!(page.contains(".TH truebench-memory 1") && page.contains("\\-\\-array\\-size"), "{page}");
    let page = stdout(&run(&["man", "memory", "mix"]));
    assert!(page.contains(".TH truebench-memory-mix 1"), "{page}");
    let sections = ["OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"];
    let places: Vec<Option<usize>> =
        sections.iter().map(|title| page.find(&format!(".SH {title}\n"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {page}");
    assert!(!page.contains(".SH EXTRA"), "{page}");
    let directory = tempfile::tempdir().unwrap();
    let output = run(&["man", "-o", directory.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for name in ["truebench.1", "truebench-run.1", "truebench-http-serve.1", "truebench-memory-cross-check.1"]
    {
        assert!(directory.path().join(name).is_file(), "{name}");
    }
    for (arguments, part) in [
        (vec!["man", "nothing"], "no such command"),
        (vec!["man", "schema", "x"], "has no commands"),
        (vec!["man", "-o", "/proc/nowhere"], "cannot be written"),
    ] {
        assert!(refused(&arguments).contains(part), "{arguments:?}");
    }
}

#[test]
fn a_quiet_run_without_a_figure_says_why_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json").display().to_string();
    // A UDP socket has a free number; no TCP server listens there.
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", socket.local_addr().unwrap());
    let output = run(&[
        "http",
        "load",
        "--url",
        &url,
        "-d",
        "200ms",
        "--rounds",
        "1",
        "--no-ceiling",
        "-q",
        "-o",
        &file,
    ]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(stdout(&output).is_empty());
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("nothing was measured") && message.contains("refused"), "{message}");
    assert!(std::path::Path::new(&file).is_file());
}
