//! JMeter, Gatling and locust: what people published of them, and what the checks say.

use audit::{Known, Source};
use figure::evidence::audit::UNJUDGED;
use figure::evidence::http::CONNECTIONS;
use figure::{Record, Verdict};

use crate::published::{self, Case, judged, nothing, says, value};

pub const CASES: &[Case] = &[
    case!(
        "gatling-1260",
        nothing,
        [("gatling.mean", Invalid, "errors-as-work"), ("gatling.p50", Invalid, "errors-as-work")]
    ),
    case!(
        "gatling-limits",
        nothing,
        [
            ("gatling.rate", Valid, ""),
            ("gatling.mean", Valid, ""),
            ("gatling.p50", Valid, ""),
            ("gatling.p99", Unverified, "coordinated-omission"),
        ]
    ),
    case!(
        "gatling-json",
        nothing,
        [
            ("gatling.rate", Invalid, "errors-as-work"),
            ("gatling.mean", Invalid, "errors-as-work"),
            ("gatling.p50", Invalid, "inputs"),
            ("gatling.p99", Invalid, "inputs"),
        ]
    ),
    case!("gatling-pos", nothing, [("gatling.rate", Valid, ""), ("gatling.mean", Valid, "")]),
    case!("gatling-315", nothing, [("gatling.rate", Valid, ""), ("gatling.mean", Valid, "")]),
    case!("gatling-jex", nothing, [("gatling.rate", Valid, ""), ("gatling.mean", Valid, "")]),
    case!("jmeter-knative", nothing, [("jmeter.rate", Valid, ""), ("jmeter.mean", Valid, "")]),
    case!(
        "jmeter-scim",
        nothing,
        [("jmeter.rate", Invalid, "errors-as-work"), ("jmeter.mean", Invalid, "errors-as-work")]
    ),
    case!("jmeter-2015", nothing, [("jmeter.rate", Valid, ""), ("jmeter.mean", Valid, "")]),
    case!("jmeter-nginx", nothing, [("jmeter.rate", Valid, ""), ("jmeter.mean", Suspect, "precision")]),
    case!("jmeter-postgres", nothing, [("jmeter.rate", Valid, ""), ("jmeter.mean", Valid, "")]),
    case!(
        "jmeter-corneast",
        nothing,
        [
            ("jmeter.rate", Valid, ""),
            ("jmeter.mean", Valid, ""),
            ("jmeter.p50", Invalid, "inconsistent-totals"),
            ("jmeter.p90", Invalid, "inconsistent-totals"),
            ("jmeter.p99", Invalid, "inconsistent-totals"),
        ]
    ),
    // Eight samples, the first two of 2 s.
    case!(
        "jmeter-ipify",
        nothing,
        [
            ("jmeter.rate", Suspect, "too-short"),
            ("jmeter.mean", Suspect, "too-short"),
            ("jmeter.p50", Suspect, "inputs"),
        ]
    ),
    case!(
        "locust-devbox",
        nothing,
        [
            ("locust.rate", Valid, ""),
            ("locust.mean", Valid, ""),
            ("locust.p99", Unverified, "coordinated-omission"),
        ]
    ),
    case!(
        "locust-ckan",
        nothing,
        [
            ("locust.rate", Invalid, "errors-as-work"),
            ("locust.mean", Invalid, "errors-as-work"),
            ("locust.p50", Invalid, "inputs"),
        ]
    ),
    case!(
        "locust-json",
        nothing,
        [
            ("locust.rate", Invalid, "errors-as-work"),
            ("locust.mean", Invalid, "errors-as-work"),
            ("locust.p50", Invalid, "inputs"),
            ("locust.p90", Invalid, "inputs"),
            ("locust.p99", Invalid, "inputs"),
        ]
    ),
    case!("locust-2017", nothing, [("locust.rate", Valid, ""), ("locust.p50", Valid, "")]),
    case!("locust-events", nothing, [("locust.rate", Valid, ""), ("locust.mean", Valid, "")]),
    case!(
        "locust-stats",
        nothing,
        [
            ("locust.rate", Invalid, "errors-as-work"),
            ("locust.mean", Invalid, "errors-as-work"),
            ("locust.p50", Invalid, "inputs"),
            ("locust.p90", Invalid, "inputs"),
        ]
    ),
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

/// The record of a text that may be refused.
fn read(text: &str) -> Option<Record> {
    audit::figures(&[Source::of("text", text)], &nothing()).ok()?;
    Some(judged(&[text], &nothing()))
}

/// What is accused, with its verdict.
fn accused(record: &Record) -> Vec<(String, Verdict)> {
    let all = record.figures.iter().filter_map(|figure| Some((figure.id.clone(), figure.verdict?)));
    all.filter(|(_, verdict)| *verdict >= Verdict::Suspect).collect()
}

/// Without its first or last lines a text is accused of nothing that the whole is not accused of. `Invalid` may become `Suspect`.
pub fn cuts_accuse_of_nothing_else(name: &str, text: &str) {
    let whole = accused(&judged(&[text], &nothing()));
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() {
        for cut in [lines[at..].join("\n"), lines[..at].join("\n")] {
            let Some(record) = read(&cut) else { continue };
            for (id, verdict) in accused(&record) {
                let is_known = whole.iter().any(|(own, worse)| *own == id && *worse >= verdict);
                assert!(is_known, "{name}, cut at line {}: {id} {verdict:?} of {whole:?}\n{cut}", at + 1);
            }
        }
    }
}

#[test]
fn published_texts_get_their_verdicts() {
    published::each_gets_its_verdict(CASES);
}

#[test]
fn sound_runs_are_accused_of_nothing() {
    let record = judged(&[include_str!("data/loads-sound.txt")], &nothing());
    // Three samples.
    let all = accused(&record);
    assert!(all.iter().all(|(id, _)| id.starts_with("audit.jmeter-3.")), "{all:?}");
    for id in [
        "gatling.rate",
        "gatling-2.rate",
        "gatling-3.rate",
        "jmeter.rate",
        "jmeter-2.rate",
        "jmeter-3.rate",
        "locust.p50",
    ] {
        value(&record, id);
    }
}

#[test]
fn a_cut_text_is_accused_of_nothing_else() {
    for case in CASES {
        cuts_accuse_of_nothing_else(case.file, case.text);
    }
}

/// What a log puts around the lines of a text changes no verdict and no value.
pub fn wrappings_change_nothing(name: &str, text: &str) {
    let all = |text: &str| -> Vec<(String, Option<Verdict>, Option<f64>)> {
        let record = judged(&[text], &nothing());
        record.figures.iter().map(|figure| (figure.id.clone(), figure.verdict, figure.value)).collect()
    };
    let whole = all(text);
    for prefix in ["2024-05-23T10:45:02.148023Z ", "load_1  | ", "    ", "> ", "+ * ", "\u{1b}[32m"] {
        // Of few lines a name before a bar may be a table's; and what quotes a document is no part of it.
        if prefix.contains('|') && text.lines().count() < 3
            || prefix == "> " && (text.starts_with("{\n") || text.starts_with("[\n"))
        {
            continue;
        }
        let wrapped: String = text.lines().map(|line| format!("{prefix}{line}\r\n")).collect();
        assert_eq!(all(&wrapped), whole, "{name}, {prefix:?}");
    }
}

#[test]
fn wrapped_texts_get_the_same_verdicts() {
    for case in CASES {
        wrappings_change_nothing(case.file, case.text);
    }
}

#[test]
fn values_are_those_of_the_text() {
    for (file, id, expected) in [
        ("gatling-1260", "gatling.mean", 116.0),
        ("gatling-limits", "gatling.rate", 1371.375),
        ("gatling-jex", "gatling.rate", 7958.92),
        ("gatling-jex", "gatling.p99", 1084.0),
        ("gatling-315", "gatling.p50", 58.0),
        ("jmeter-2015", "jmeter.rate", 3.9),
        ("jmeter-2015", "jmeter.mean", 1827.0),
        ("jmeter-postgres", "jmeter.rate", 1151.70222),
        ("jmeter-corneast", "jmeter.p99", 23.0),
        ("jmeter-ipify", "jmeter.rate", 8.0 / 2.698),
        ("jmeter-ipify", "jmeter.mean", 586.875),
        ("jmeter-ipify", "jmeter.p50", 16.0),
        ("locust-devbox", "locust.rate", 352.63),
        ("locust-devbox", "locust.p99", 13000.0),
        ("locust-2017", "locust.mean", 31.0),
        ("locust-2017", "locust.p90", 49.0),
        ("locust-events", "locust.p999", 95.0),
        ("locust-stats", "locust.mean", 29.1),
        ("locust-json", "locust.rate", 252.0 / 19.5304182),
        ("locust-json", "locust.mean", 12018.131953 / 252.0),
        ("locust-json", "locust.p50", 7.0),
        ("gatling-json", "gatling.rate", 31.117),
        ("gatling-json", "gatling.p99", 60015.0),
    ] {
        let found = value(&judged(&[text(file)], &nothing()), id);
        assert!((found - expected).abs() < 1e-6 * expected, "{file}: {id} {found}");
    }
}

#[test]
fn a_broken_law_is_named() {
    let invalid = |check: &str| (Some(Verdict::Invalid), check.to_owned());
    for (file, from, to, id, check) in [
        ("gatling-limits", "KO=0     )", "KO=5     )", "gatling.rate", "inconsistent-totals"),
        (
            "gatling-limits",
            "                         18 (OK=18",
            "                          3 (OK=3",
            "gatling.p50",
            "inconsistent-totals",
        ),
        (
            "gatling-limits",
            "                                 17 (OK",
            "                                817 (OK",
            "gatling.mean",
            "inconsistent-totals",
        ),
        (
            "gatling-jex",
            "198,973 |   198,973 |         -",
            "198,973 |   198,973 |       300",
            "gatling.rate",
            "inconsistent-totals",
        ),
        ("jmeter-knative", "2.6/s", "3.9/s", "jmeter.rate", "inconsistent-totals"),
        ("jmeter-knative", "(0.00%)", "(5.00%)", "jmeter.rate", "inconsistent-totals"),
        ("jmeter-knative", "Avg:    66", "Avg:   466", "jmeter.mean", "inconsistent-totals"),
        ("jmeter-2015", "summary +   108", "summary +   208", "jmeter.rate", "inconsistent-totals"),
        ("jmeter-nginx", "Avg:     0", "Avg:     2", "jmeter.mean", "littles-law"),
        ("jmeter-postgres", "TOTAL,100000", "TOTAL,90000", "jmeter.rate", "inconsistent-totals"),
        ("jmeter-postgres", "TOTAL,100000,81", "TOTAL,100000,91", "jmeter.rate", "inconsistent-totals"),
        (
            "jmeter-corneast",
            "\"errorCount\" : 0",
            "\"errorCount\" : 900",
            "jmeter.rate",
            "inconsistent-totals",
        ),
        (
            "locust-devbox",
            "POST     /                  14842",
            "POST     /                  24842",
            "locust.rate",
            "inconsistent-totals",
        ),
        ("locust-devbox", "11000  13000", "19000  13000", "locust.p99", "inconsistent-totals"),
        ("locust-events", "  4698     0(0.00%)", "  4698   940(20.01%)", "locust.rate", "errors-as-work"),
    ] {
        let broken = text(file).replace(from, to);
        assert_ne!(broken, text(file), "{file}: {from}");
        assert_eq!(says(&judged(&[&broken], &nothing()), id), invalid(check), "{file}: {from}");
    }
}

#[test]
fn no_more_requests_are_under_way_than_there_are_users() {
    let of = |users: u32| {
        let command =
            format!("locust -f stress.py --headless -u {users} -r 50 -t 40s --host http://127.0.0.1:8000\n");
        judged(&[&format!("{command}{}", text("locust-devbox"))], &nothing())
    };
    // 352.63/s for 1.741 s are 614 at once.
    for (users, verdict) in
        [(10_000, Verdict::Valid), (620, Verdict::Valid), (560, Verdict::Suspect), (100, Verdict::Invalid)]
    {
        let record = of(users);
        assert_eq!(says(&record, "locust.mean").0, Some(verdict), "{users}");
        assert_eq!(says(&record, "locust.rate").0, Some(Verdict::Valid), "{users}");
        assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(f64::from(users)));
    }
    // The option says so, too; and a rate that was asked for.
    let known = Known { connections: Some(100.0), ..nothing() };
    assert_eq!(says(&judged(&[text("gatling-limits")], &known), "gatling.mean").0, Some(Verdict::Valid));
    let known = Known { connections: Some(10.0), ..nothing() };
    assert_eq!(says(&judged(&[text("gatling-limits")], &known), "gatling.mean").1, "littles-law");
    let known = Known { rate: Some(2000.0), ..nothing() };
    assert_eq!(says(&judged(&[text("gatling-limits")], &known), "gatling.rate").1, "rate-met");
}

#[test]
fn runs_of_a_text_are_figures_of_their_own() {
    for case in CASES {
        let tool = case.file.split('-').next().unwrap_or_default();
        let record = judged(&[&format!("{}\n\nand again\n\n{}", case.text, case.text)], &nothing());
        let has = |id: &str| record.figure(&format!("audit.{id}")).is_some();
        let [first, second, third] = ["", "-2", "-3"].map(|number| format!("{tool}{number}.mean"));
        assert!(has(&first) && has(&second) && !has(&third), "{}", case.file);
    }
}

#[test]
fn tables_that_a_tool_prints_again_and_again_are_one_run() {
    let table = |requests: u32, rate: &str| {
        format!(
            "Type     Name      # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n\
             --------|--------|-------|-------------|-------|-------|-------|-------|--------|-----------\n\
             GET      /         {requests}     0(0.00%) |   17      5   203     13 |  {rate}        0.00\n\
             --------|--------|-------|-------------|-------|-------|-------|-------|--------|-----------\n         \
             Aggregated         {requests}     0(0.00%) |   17      5   203     13 |  {rate}        0.00\n\n"
        )
    };
    let text = [table(0, "0.00"), table(90, "41.00"), table(200, "47.00"), table(300, "50.00")].concat();
    let record = judged(&[&text], &nothing());
    assert_eq!(value(&record, "locust.rate"), 50.0);
    assert!(record.figure("audit.locust-2.rate").is_none());
    // Fewer requests than before are those of another run.
    let record = judged(&[&[text.clone(), table(100, "20.00")].concat()], &nothing());
    assert_eq!((value(&record, "locust.rate"), value(&record, "locust-2.rate")), (50.0, 20.0));
}

#[test]
fn a_run_of_less_than_half_a_second_is_short() {
    let line =
        "summary =      3 in 00:00:00 =  111.1/s Avg:     7 Min:     6 Max:     8 Err:     0 (0.00%)\n";
    assert_eq!(
        says(&judged(&[line], &nothing()), "jmeter.rate"),
        (Some(Verdict::Suspect), "too-short".to_owned())
    );
    // JMeter knows no rate where no time passed.
    let line = line.replace(" 111.1", "******");
    let record = judged(&[&line], &nothing());
    assert!(record.figure("audit.jmeter.rate").is_none());
}

#[test]
fn logs_and_other_languages_are_read_or_refused() {
    let log: String = text("jmeter-knative")
        .lines()
        .map(|line| format!("2022-12-09 18:19:42,086 INFO o.a.j.r.Summariser: {line}\n"))
        .collect();
    let record = judged(&[&log], &nothing());
    assert_eq!((value(&record, "jmeter.rate"), value(&record, "jmeter.mean")), (2.6, 66.0));
    let german = text("jmeter-knative").replace("2.6/s", "2,6/s").replace("0.00%", "0,00%");
    let refused = audit::figures(&[Source::of("x", &german)], &nothing());
    assert!(refused.is_err_and(|refused| refused.to_string().contains("LC_ALL=C")));
    // No request passed.
    let failed = text("gatling-1260").replace("OK=9924   KO=5000", "OK=0      KO=14924");
    assert_eq!(says(&judged(&[&failed], &nothing()), "gatling.mean").1, "errors-as-work");
    let dashes = text("gatling-1260").replace("OK=9924", "OK=-   ").replace("KO=5000", "KO=14924");
    assert_eq!(says(&judged(&[&dashes], &nothing()), "gatling.mean").1, "errors-as-work");
    // The first versions of Gatling had other labels.
    let old = "> numberOfRequests                                  1000 (OK=1000   KO=0     )\n\
               > minResponseTime                                     10 (OK=10     KO=-     )\n\
               > maxResponseTime                                    400 (OK=400    KO=-     )\n\
               > meanResponseTime                                    40 (OK=40     KO=-     )\n\
               > meanNumberOfRequestsPerSecond                       50 (OK=50     KO=-     )\n";
    let record = judged(&[old], &nothing());
    assert_eq!(
        (value(&record, "gatling.rate"), says(&record, "gatling.mean").0),
        (50.0, Some(Verdict::Valid))
    );
}

#[test]
fn samples_of_transactions_and_broken_rows_are_none() {
    let head = text("jmeter-ipify");
    let more = format!(
        "{head}1499876021400,9000,login,200,\"Number of samples in transaction : 2, number of failing samples : 0\",Thread Group \
         1-84,,true,,440,258,2,2,0,0,0\n1499876021500,20,ipify,500,\"Internal\nServer Error, really\",Thread Group 1-84,text,false,,220,\
         129,2,2,20,0,0\nkilled\n"
    );
    let record = judged(&[&more], &nothing());
    assert!((value(&record, "jmeter.rate") - 9.0 / 2.711).abs() < 1e-9);
    assert_eq!(says(&record, "jmeter.rate").1, "errors-as-work");
    let named = record.figure("audit.jmeter.rate").unwrap().evidence.get(UNJUDGED).into_value().unwrap();
    assert!(named.contains("1 samples of transaction") && named.contains("1 rows"), "{named}");
    // Failures by their kind, and without the head.
    let failed = head
        .replace("1499876021350,11,ipify,200,OK", "1499876021350,11,ipify,503,Unavailable")
        .replace("true,,220,129,2,2,11", "false,,220,129,2,2,11");
    for text in [failed.clone(), failed.lines().skip(1).collect::<Vec<_>>().join("\n")] {
        let record = judged(&[&text], &nothing());
        assert_eq!(says(&record, "jmeter.rate"), (Some(Verdict::Invalid), "errors-as-work".to_owned()));
    }
}

#[test]
fn errors_are_named_by_their_texts() {
    let kinds = |text: &str, id: &str| {
        let record = judged(&[text], &nothing());
        let figure = record.figure(&format!("audit.{id}")).unwrap();
        let check = figure.checks.iter().find(|check| check.id == "errors-as-work").unwrap();
        check.values["kinds"].to_string()
    };
    let errors = "---- Errors --------------------------------------------------------------------\n\
                  > status.find.in(200,201), found 500                    4000 (80.00%)\n\
                  > j.n.ConnectException: Connection refused              1000 (20.00%)\n";
    let found = kinds(&format!("{}{errors}", text("gatling-1260")), "gatling.mean");
    assert!(
        found.contains("\"status\"") && found.contains("4000") && found.contains("\"refused\""),
        "{found}"
    );
    assert!(kinds(text("gatling-1260"), "gatling.mean").contains("\"unspecified\""));
    let errors = "Error report\n# occurrences      Error\n------------------|-----\n\
                  3                  GET /group: HTTPError('502 Server Error')\n";
    let found = kinds(&format!("{}\n{errors}", text("locust-ckan")), "locust.rate");
    assert!(found.contains("\"status\"") && found.contains("\"unspecified\""), "{found}");
}
