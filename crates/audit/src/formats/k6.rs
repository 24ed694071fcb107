//! k6 (grafana/k6): the summary at the end of a test, as text (before and since 1.0), by --summary-export and by handleSummary.

use serde_json::Value;

use crate::command::{Grammar, Setting, Style};
use crate::duration::duration;
use crate::format::Format;
use crate::formats::k6_report::{Plan, Report, Values, load};
use crate::known::Known;
use crate::run::Run;
use crate::shell::Word;
use crate::text::{Printed, begins, first, number};

pub(super) const FORMAT: Format = Format::lines(
    "k6",
    &["http_req_duration.", "http_reqs.", "iteration_duration.", "looping VUs for", "vus_max."],
    starts,
    Some(&COMMAND),
    parse,
);
pub(super) const DOCUMENT: Format =
    Format::documents("k6", &["\"http_reqs\""], is_summary, Some(&COMMAND), parse_documents);

/// `k6 run --help`.
const COMMAND: Grammar = Grammar {
    programs: &["k6"],
    style: Style::Getopt,
    values: &[
        "-u",
        "--vus",
        "-d",
        "--duration",
        "-i",
        "--iterations",
        "-s",
        "--stage",
        "-e",
        "--env",
        "-o",
        "--out",
        "-c",
        "--config",
        "--rps",
        "--max-redirects",
        "--batch",
        "--batch-per-host",
        "--user-agent",
        "--http-debug",
        "--min-iteration-duration",
        "--summary-export",
        "--summary-mode",
        "--summary-time-unit",
        "--summary-trend-stats",
        "--tag",
        "--system-tags",
        "--address",
        "--log-output",
        "--log-format",
        "--dns",
        "--local-ips",
        "--execution-segment",
        "--execution-segment-sequence",
        "--compatibility-mode",
        "--traces-output",
        "--console-output",
        "--max",
        "-m",
    ],
    flags: &[
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "-w",
        "--throw",
        "-p",
        "--paused",
        "-l",
        "--linger",
        "--no-color",
        "--no-summary",
        "--no-thresholds",
        "--no-setup",
        "--no-teardown",
        "--no-connection-reuse",
        "--no-vu-connection-reuse",
        "--no-usage-report",
        "--insecure-skip-tls-verify",
        "--discard-response-bodies",
        "--include-system-env-vars",
        "--new-machine-readable-summary",
        "--profiling-enabled",
    ],
    hidden: &["-e", "--env"],
    operand: is_operand,
    operands: 2..=2,
};

/// Times are cut off after two decimals (`humanizeGenericDuration` in internal/js/summary.js).
const DECIMALS: usize = 2;
/// Metrics that come before the requests by the alphabet.
const FIRST: [&str; 4] = ["checks", "data_received", "data_sent", "dropped_iterations"];
/// The most lines between one of these and the requests.
const FIRST_WITHIN: usize = 60;
/// The most lines between the first of a run and the others.
const WITHIN: usize = 400;

fn is_operand(word: &Word) -> bool {
    let text = word.text.as_str();
    text == "run" || text == "-" || text.ends_with(".js") || text.ends_with(".ts") || text.ends_with(".tar")
}

/// The name and the values of a line `name......: values`; marks of thresholds before it are taken off.
fn metric(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(['✓', '✗', '*', ' ']);
    let (name, values) = line.split_once(": ")?;
    let bare = name.trim_end_matches('.');
    (bare.len() < name.len() && !bare.is_empty() && !bare.contains(".."))
        .then_some((bare.trim(), values.trim()))
}

fn is(line: &str, name: &str) -> bool {
    metric(line).is_some_and(|(own, _)| own == name)
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let kinds: &[fn(&str) -> bool] = &[
        |line| line.starts_with("execution: "),
        |line| line.starts_with("scenarios: ("),
        |line| line.starts_with("█ TOTAL RESULTS"),
        |line| is(line, FIRST[0]),
        |line| is(line, FIRST[1]),
        |line| is(line, FIRST[2]),
        |line| is(line, FIRST[3]),
        |line| is(line, "http_req_duration"),
        |line| is(line, "http_reqs"),
        |line| is(line, "iteration_duration"),
        |line| is(line, "iterations"),
        |line| is(line, "vus"),
        |line| is(line, "vus_max"),
    ];
    let Some(line) = rest.first().filter(|_| begins(kinds, before, rest)) else { return false };
    let holds = |line: &str| is(line, "http_reqs") || is(line, "http_req_duration") || is(line, "iterations");
    // Before 1.0 these stand before the requests; since then behind them, and begin nothing.
    let is_first = FIRST.iter().any(|name| is(line, name));
    let next =
        rest.iter().skip(1).take(FIRST_WITHIN).find(|line| is(line, "http_req_duration") || ends(line));
    if is_first && next.is_none_or(|line| ends(line)) {
        return false;
    }
    let is_head = line.starts_with("execution: ") || line.starts_with("scenarios: (");
    if is_head { rest.iter().take(WITHIN).any(|line| holds(line)) } else { !is_of_group(before) }
}

/// Whether a line is none of those between the first of a summary before 1.0 and the requests.
fn ends(line: &str) -> bool {
    line.starts_with("execution: ") || line.starts_with('█') || is(line, "iteration_duration")
}

/// Whether what follows these lines is of a group or a scenario, which repeat all names (--summary-mode full).
fn is_of_group(before: &[&str]) -> bool {
    for line in before.iter().rev().take(WITHIN) {
        let heading = line.strip_prefix(['█', '↳']).map(str::trim_start);
        match heading {
            Some(heading) if is_group(heading) => return true,
            Some(heading) if heading.starts_with("TOTAL RESULTS") => return false,
            _ if line.starts_with("execution: ") => return false,
            _ => {}
        }
    }
    false
}

fn is_group(heading: &str) -> bool {
    heading.starts_with("GROUP: ") || heading.starts_with("SCENARIO: ")
}
fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    // Of groups and scenarios, which follow, the lines have the same names.
    let is_heading = |line: &&str| line.strip_prefix('█').is_some_and(|rest| is_group(rest.trim_start()));
    let totals = run.lines.iter().position(|line| line.starts_with("█ TOTAL RESULTS")).unwrap_or(0);
    let end = run.lines.iter().skip(totals).position(is_heading).map(|at| totals + at);
    let own = run.with(&run.lines[..end.unwrap_or(run.lines.len())]);
    let values = |name: &str| {
        own.lines
            .iter()
            .find_map(|line| metric(line).filter(|(own, _)| *own == name))
            .map(|(_, values)| values)
    };
    let counter = |name: &str| {
        let mut words = values(name)?.split_whitespace();
        let count = number(words.next()?)?;
        Some((count, words.next().and_then(|rate| Printed::of(rate.strip_suffix("/s")?))))
    };
    let trend = |name: &str| values(name).map_or(Vec::new(), trend);
    let requests = counter("http_reqs");
    let report = Report {
        requests: requests.map(|(count, _)| count),
        rate: requests.and_then(|(_, rate)| rate),
        duration: trend("http_req_duration"),
        failed: values("http_req_failed").and_then(matched),
        iterations: counter("iterations").and_then(|(count, rate)| Some((count, rate?))),
        iteration: trend("iteration_duration"),
        dropped: counter("dropped_iterations").map(|(count, _)| count),
        interrupted: ended(run).map_or(0.0, |(_, interrupted)| interrupted),
        // `00m00.0s` is less than its last digit: count and rate have more.
        seconds: ended(run).map(|(seconds, _)| seconds).filter(|seconds| seconds.value > 0.0),
        users: values("vus")
            .and_then(range)
            .zip(values("vus_max").and_then(range))
            .map(|(own, all)| (own.0, all.1)),
        checks: checks(own.lines).into_iter().chain(checks(&above(run))).collect(),
        all_checks: values("checks").and_then(matched).or_else(|| {
            let failed = values("checks_failed").and_then(matched)?;
            Some((failed.1, failed.0))
        }),
        plan: plan(run),
        has_groups: end.is_some(),
        is_whole: shows_all(own.lines),
        subject: run.after("script:").map(str::to_owned).or_else(|| script(run)).unwrap_or_default(),
    };
    load(report)?.figures(known)
}

/// Whether dropped iterations would be among these lines: they stand below a heading since 1.0, and before it below the first metrics.
fn shows_all(lines: &[&str]) -> bool {
    let at = |name: &str| lines.iter().position(|line| is(line, name));
    let requests = at("http_reqs");
    lines.contains(&"EXECUTION")
        || at("data_received").is_some_and(|first| requests.is_some_and(|own| first < own))
}

fn script(run: &Run) -> Option<String> {
    run.command?.operands.iter().map(|word| word.text.clone()).find(|text| text != "run")
}

/// `avg=303.19ms min=22.15ms med=285.94ms max=955.11ms p(90)=402.35ms`.
fn trend(values: &str) -> Values {
    let of = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let time = duration(value, DECIMALS)?;
        // It is cut off, not rounded.
        Some((name.to_owned(), Printed { off: 2.0 * time.off, ..time }))
    };
    values.split_whitespace().filter_map(of).collect()
}

/// How often something was so, and how often not: `0.00%  ✓ 0  ✗ 15868`, and since 1.0 `0.00%  0 out of 2116`.
fn matched(values: &str) -> Option<(f64, f64)> {
    if let Some((matched, all)) = values.split_once(" out of ") {
        let (matched, all) = (number(matched.split_whitespace().next_back()?)?, number(first(all)?)?);
        return Some((matched, (all - matched).max(0.0)));
    }
    let of = |mark: char| number(values.split_once(mark)?.1.split_whitespace().next()?);
    Some((of('✓')?, of('✗')?))
}

/// `80     min=80       max=80`.
fn range(values: &str) -> Option<(f64, f64)> {
    let of = |name: &str| number(first(values.split_once(name)?.1)?);
    Some((of("min=")?, of("max=")?))
}

/// Checks by name: those that failed have their counts on a line of their own, `↳  85% — ✓ 850 / ✗ 150`.
fn checks(lines: &[&str]) -> Vec<(String, f64, f64)> {
    let pairs = lines.windows(2).filter_map(|pair| {
        let [name, counts] = pair else { return None };
        let counts = counts.strip_prefix('↳')?;
        let (passed, failed) = matched(&counts.replace('/', " "))?;
        Some((name.trim_start_matches(['✗', ' ']).to_owned(), passed, failed))
    });
    let passed = lines
        .iter()
        .filter(|line| metric(line).is_none())
        .filter_map(|line| Some((line.strip_prefix("✓ ")?.trim().to_owned(), 0.0, 0.0)));
    pairs.chain(passed.filter(|(name, ..)| !name.starts_with('\'')).take(WITHIN)).collect()
}

/// The checks above the metrics, where the lines before them are lost.
fn above<'a>(run: &Run<'a>) -> Vec<&'a str> {
    let is_of_checks = |line: &&&str| line.is_empty() || line.starts_with(['✓', '✗', '↳', '█']);
    let mut own: Vec<&str> = run.before.iter().rev().take_while(is_of_checks).take(WITHIN).copied().collect();
    own.reverse();
    own
}

/// The last line of the progress, `running (1m00.3s), 00/80 VUs, 15868 complete and 0 interrupted iterations`: how long it lasted, and how
/// many iterations were interrupted.
fn ended(run: &Run) -> Option<(Printed, f64)> {
    run.lines.iter().rev().find_map(|line| {
        let (time, rest) = line.strip_prefix("running (")?.split_once(')')?;
        let interrupted = rest.split_once(" and ")?.1.strip_suffix(" interrupted iterations")?;
        Some((duration(time, 1)?, number(interrupted)?))
    })
}

/// How users work, by the lines of the scenarios, before 0.27 by `vus: 10, max: 10`, or by the command.
fn plan(run: &Run) -> Plan {
    let heading = run.lines.iter().position(|line| line.starts_with("scenarios: ("));
    if let Some(heading) = heading {
        let below = run.lines.iter().skip(heading + 1).map(|line| line.trim_start_matches(['*', ' ']));
        let mut all = below.take_while(|line| !line.is_empty()).filter_map(scenario);
        return match (all.next(), all.next()) {
            (Some(own), None) => own,
            (Some(_), Some(_)) => Plan::Several,
            (None, _) => Plan::Unknown,
        };
    }
    let old = run.lines.iter().find(|line| line.starts_with("vus: ") && line.contains(", max: "));
    if let Some((users, most)) = old.and_then(|line| line.strip_prefix("vus: ")?.split_once(", max: "))
        && let (Some(users), Some(most)) = (number(users), first(most).and_then(number))
    {
        return if users == most {
            Plan::Users(users, None, format!("from vus: {users}"))
        } else {
            Plan::Ramp(most)
        };
    }
    let Some(command) = run.command else { return Plan::Unknown };
    let takes_time =
        command.has(&["-d", "--duration", "-i", "--iterations"]) && !command.has(&["-s", "--stage"]);
    match command.setting(&["-u", "--vus"]) {
        Setting::Is(users) if takes_time && users >= 1.0 => {
            Plan::Users(users, None, command.quote(&["-u", "--vus"]))
        }
        _ => Plan::Unknown,
    }
}

/// A line such as `default: 80 looping VUs for 1m0s (gracefulStop: 30s)` (lib/executor).
fn scenario(line: &str) -> Option<Plan> {
    let (_, text) = line.split_once(": ")?;
    let from = || format!("from {text}");
    let lasts = |text: &str| duration(first(text)?, DECIMALS);
    if let Some((users, rest)) = text.split_once(" looping VUs for ") {
        return Some(match users.strip_prefix("Up to ") {
            Some(most) => Plan::Ramp(number(most)?),
            None => Plan::Users(number(users)?, lasts(rest), from()),
        });
    }
    if let Some((rate, rest)) = text.split_once(" iterations/s for ") {
        return Some(match rate.strip_prefix("Up to ") {
            Some(_) => Plan::Arrivals(None, None),
            None => Plan::Arrivals(Some(number(rate)?), lasts(rest)),
        });
    }
    for words in [" iterations shared among ", " iterations for each of "] {
        if let Some((_, rest)) = text.split_once(words) {
            return Some(Plan::Users(number(first(rest)?)?, None, from()));
        }
    }
    text.contains("xternally controlled").then_some(Plan::Unknown)
}

/// The metrics of a summary, in one of its three forms: by name, by name with the values below, or in a list.
fn metrics(document: &Value) -> Option<&Value> {
    document.get("metrics").or_else(|| document.get("results")?.get("metrics"))
}

fn metric_of<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    let all = metrics(document)?;
    let own = match all {
        Value::Array(all) => all.iter().find(|own| own.get("name").and_then(Value::as_str) == Some(name)),
        _ => all.get(name),
    }?;
    Some(own.get("values").unwrap_or(own))
}

fn is_summary(document: &Value) -> bool {
    metric_of(document, "http_reqs").is_some()
        && metric_of(document, "iterations").or(metric_of(document, "vus")).is_some()
}

fn parse_documents(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        figures.extend(load(of_document(document, run))?.figures(known)?);
    }
    Ok(figures)
}

fn of_document(document: &Value, run: &Run) -> Report {
    let field = |name: &str, field: &str| {
        metric_of(document, name)?.get(field)?.as_f64().filter(|value| *value >= 0.0)
    };
    let exact = |value: f64| Printed { value, off: 0.0 };
    let trend = |name: &str| -> Values {
        let own = metric_of(document, name).and_then(Value::as_object);
        let of = |(name, value): (&String, &Value)| {
            let value = value.as_f64().filter(|value| *value >= 0.0)?;
            (name != "count").then_some((name.clone(), exact(value * 1e-3)))
        };
        own.map_or(Vec::new(), |own| own.iter().filter_map(of).collect())
    };
    let state = |name: &str| document.get("state")?.get(name)?.as_f64();
    let seconds = state("testRunDurationMs").map(|milliseconds| milliseconds * 1e-3);
    let seconds = seconds
        .or_else(|| document.get("config")?.get("duration")?.as_f64())
        .filter(|seconds| *seconds > 0.0);
    let counter = |name: &str| {
        let count = field(name, "count")?;
        Some((count, field(name, "rate").or(seconds.map(|seconds| count / seconds))))
    };
    let matched = |name: &str| {
        let old = Some(name).and_then(|name| Some((field(name, "passes")?, field(name, "fails")?)));
        let new = || Some((field(name, "matches")?, field(name, "total")?));
        old.or_else(|| new().map(|(matches, total)| (matches, (total - matches).max(0.0))))
    };
    let requests = counter("http_reqs");
    let mut checks = Vec::new();
    groups(document.get("root_group"), &mut checks, 0);
    let listed = document.get("results").and_then(|results| results.get("checks")?.get("results"));
    checks.extend(each(listed).into_iter().filter_map(check));
    Report {
        requests: requests.map(|(count, _)| count),
        rate: requests.and_then(|(_, rate)| rate).map(exact),
        duration: trend("http_req_duration"),
        failed: matched("http_req_failed"),
        iterations: counter("iterations").and_then(|(count, rate)| Some((count, exact(rate?)))),
        iteration: trend("iteration_duration"),
        dropped: counter("dropped_iterations").map(|(count, _)| count),
        interrupted: 0.0,
        seconds: seconds.map(exact),
        users: field("vus", "min").zip(field("vus_max", "max")),
        checks,
        all_checks: matched("checks"),
        plan: plan(run),
        has_groups: false,
        is_whole: true,
        subject: script(run).unwrap_or_default(),
    }
}

/// The deepest groups that are looked into.
const DEEPEST: usize = 16;

/// Checks of a group and those in it: lists in what handleSummary gets, by name in what --summary-export writes.
fn groups(group: Option<&Value>, checks: &mut Vec<(String, f64, f64)>, depth: usize) {
    let Some(group) = group.filter(|_| depth < DEEPEST) else { return };
    checks.extend(each(group.get("checks")).into_iter().filter_map(check));
    for inner in each(group.get("groups")) {
        groups(Some(inner), checks, depth + 1);
    }
}

fn each(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Array(all)) => all.iter().collect(),
        Some(Value::Object(all)) => all.values().collect(),
        _ => Vec::new(),
    }
}

fn check(check: &Value) -> Option<(String, f64, f64)> {
    let count = |name: &str| check.get(name)?.as_f64().filter(|count| *count >= 0.0);
    Some((check.get("name")?.as_str()?.to_owned(), count("passes")?, count("fails")?))
}
