//! The report as a page: written by the binary, and checked in a browser if there is one.

use std::path::Path;
use std::process::{Command, Stdio};

use figure::{Better, CheckResult, Evidence, Figure, Limit, Outcome, Record, Round, Unit, Verdict};

use crate::bench::{run, stderr, stdout};

#[path = "../crates/report/tests/sample/mod.rs"]
mod sample;

/// What a browser is called.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Looks at a page and writes what it saw into itself, as JSON.
const PROBE: &str = include_str!("html_probe.html");

fn browser() -> Option<&'static str> {
    let starts = |name: &&str| {
        let started =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        started.is_ok_and(|status| status.success())
    };
    BROWSERS.into_iter().find(starts)
}

/// The result of the probe in a page, in a window of this width and a theme (0 dark, 1 light).
fn probed(browser: &str, directory: &Path, width: u32, theme: u32) -> serde_json::Value {
    let probe = directory.join("probe.html");
    std::fs::write(&probe, PROBE).unwrap();
    let output = Command::new("timeout")
        .args([
            "120",
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ])
        .args([
            "--allow-file-access-from-files",
            "--disable-web-security",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", directory.join("browser").display()))
        .arg(format!("--blink-settings=preferredColorScheme={theme}"))
        .arg(format!("file://{}?page=x.html&width={width}", probe.display()))
        .output()
        .expect("timeout (coreutils) starts");
    let (dom, log) = (stdout(&output), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{log}");
    let messages: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(messages.is_empty(), "{messages:?}");
    let json = dom.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).map(|(json, _)| json);
    let json = json.unwrap_or_default().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}\n{log}"))
}

/// A record of two bandwidths, one of them disturbed.
fn small() -> Record {
    let figure = |id: &str, value: f64, steal: Outcome| {
        let mut figure = Figure::planned(id, "memory", id, Unit::GB_PER_S, Better::Higher);
        figure.rounds = (0..6)
            .map(|at| {
                let sample = value + f64::from(at) / 10.0;
                Round::new("2026-03-01T10:20:30Z".into(), 0.25, vec![sample], Evidence::default())
            })
            .collect();
        figure.summarise();
        figure.limit = Some(Limit { value: 42.7, basis: "2 x DDR4-2666".into() });
        figure.checks = vec![CheckResult {
            id: "steal".into(),
            outcome: steal,
            detail: "some of the CPU time was stolen".into(),
            fix: None,
            essential: false,
            ..Default::default()
        }];
        figure.verdict = Some(Verdict::of(&figure.checks));
        figure
    };
    let figures =
        [figure("memory.copy.nt", 30.0, Outcome::Pass), figure("memory.triad.nt", 20.0, Outcome::Warn)];
    serde_json::from_value(serde_json::json!({
        "schema": figure::record::SCHEMA,
        "tool": {"name": "truebench", "version": "1", "build": "debug", "simd": "avx2"},
        "machine": figure::Machine::default(),
        "started": "2026-03-01T10:20:30Z", "duration": 3.0, "command": ["truebench"], "interrupted": null,
        "figures": figures, "findings": [],
    }))
    .unwrap()
}

#[test]
fn a_page_is_drawn_and_can_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (record, page) = (path("record.json"), path("x.html"));
    std::fs::write(&record, serde_json::to_vec(&small()).unwrap()).unwrap();
    let written = run(&["report", record.to_str().unwrap(), "-q", "-o", page.to_str().unwrap()]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.len() < 1_500_000);
    assert!(text.contains("memory.triad.nt") && text.contains("role=\"img\""));
    let Some(browser) = browser() else {
        println!("no chromium: not tested in a browser");
        return;
    };
    let mut backs = Vec::new();
    for (width, theme) in [(1100, 1), (390, 0)] {
        let probe = probed(browser, directory.path(), width, theme);
        assert!(
            probe["pictures"].as_u64() > Some(0) && probe["drawn"] == probe["pictures"],
            "charts are drawn: {probe}"
        );
        assert!(probe["wide"].as_u64() <= Some(u64::from(width)), "nothing runs out of the page: {probe}");
        assert_eq!(probe["faint"], serde_json::json!([]), "text below a contrast of 4.5");
        for what in ["reached", "unfolds", "follows", "filters"] {
            assert_eq!(probe[what], true, "{what}: {probe}");
        }
        backs.push(probe["back"].clone());
    }
    assert_ne!(backs[0], backs[1], "light and dark");
}

#[test]
fn a_comparison_is_drawn_and_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let tests = [("dhry2reg", 1.0), ("pipe", 1.0), ("spawn", 1.0), ("syscall", 1.0), ("execl", 1.0)];
    let mut other = tests.map(|(name, _)| (name, 1.2));
    (other[0].1, other[1].1, other[2].1) = (0.7, 1.0, 1.02);
    for (name, tests) in [("a.json", tests), ("b.json", other)] {
        let record = crate::compare::record(name, &tests);
        std::fs::write(path(name), serde_json::to_vec(&record).unwrap()).unwrap();
    }
    let written = run(&["compare", &path("a.json"), &path("b.json"), "-q", "-o", &path("x.html")]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let text = std::fs::read_to_string(path("x.html")).unwrap();
    assert!(text.contains("b.json against a.json") && text.contains("role=\"img\""));
    let Some(browser) = browser() else {
        println!("no chromium: not tested in a browser");
        return;
    };
    for (width, theme) in [(1100, 1), (390, 0)] {
        let probe = probed(browser, directory.path(), width, theme);
        assert!(probe["pictures"] == 1 && probe["drawn"] == 1, "the chart is drawn: {probe}");
        assert!(probe["wide"].as_u64() <= Some(u64::from(width)), "nothing runs out of the page: {probe}");
        assert_eq!(probe["faint"], serde_json::json!([]), "text below a contrast of 4.5");
    }
}

/// Whether an axis of a chart, as its description names them, has no name but a number.
fn is_nameless(description: &str) -> bool {
    let titles = ["Across: ", "Upwards: "].into_iter().filter_map(|head| description.split_once(head));
    titles.into_iter().any(|(_, rest)| {
        let title = rest.split(['.', ',', '(']).next().unwrap_or_default().trim();
        title.is_empty() || title == "rank" || title.parse::<f64>().is_ok()
    })
}

#[test]
fn every_chart_asks_a_question_and_no_text_is_cut_off() {
    drawn(|number| vec![WIDTHS[number % WIDTHS.len()]]);
}

#[test]
#[ignore = "half a minute of both CPUs: make test-long"]
fn no_text_is_cut_off_at_any_width() {
    drawn(|_| WIDTHS.to_vec());
}

/// Widths of windows, in pixels.
const WIDTHS: [u32; 3] = [360, 800, 1280];

/// Draws the page of each record at these widths.
fn drawn(widths: impl Fn(usize) -> Vec<u32>) {
    let Some(browser) = browser() else {
        println!("skipped: no chromium: pages are not checked");
        return;
    };
    let records = [
        ("bandwidth", sample::full()),
        ("modes", sample::modes::all()),
        ("tests", sample::tests()),
        ("allocators", sample::alloc::answer()),
        ("study", sample::loads::study()),
        ("one server", sample::loads::asked()),
        ("settings", sample::modes::tried()),
        ("watched", sample::watched::watched()),
    ];
    let mut wrong = Vec::new();
    for (number, (name, record)) in records.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let (input, page) = (directory.path().join("record.json"), directory.path().join("x.html"));
        std::fs::write(&input, serde_json::to_vec(&record).unwrap()).unwrap();
        let written = run(&["report", input.to_str().unwrap(), "-q", "-o", page.to_str().unwrap()]);
        assert_eq!(written.status.code(), Some(0), "{name}: {}", stderr(&written));
        for width in widths(number) {
            let page = probed(browser, directory.path(), width, 1);
            if page["wide"].as_u64() > Some(u64::from(width)) {
                wrong.push(format!("{name}, {width} px: runs out of the page: {}", page["wide"]));
            }
            let list = |key: &str| -> Vec<String> { serde_json::from_value(page[key].clone()).unwrap() };
            wrong.extend(list("clipped").iter().map(|text| format!("{name}, {width} px: cut off: {text}")));
            wrong.extend(list("covered").iter().map(|text| format!("{name}, {width} px: covered: {text}")));
            let questions = list("titles").into_iter().filter(|title| !title.ends_with('?'));
            wrong.extend(questions.map(|title| format!("{name}: no question: {title}")));
            let axes = list("axes").into_iter().filter(|description| is_nameless(description));
            wrong.extend(axes.map(|text| format!("{name}: an axis without a name: {text}")));
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
