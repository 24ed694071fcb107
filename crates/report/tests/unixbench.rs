//! UnixBench's report, read by the expressions of PerfKitBenchmarker (linux_benchmarks/unixbench_benchmark.py).

use figure::evidence::*;
use figure::{Record, Unit, Verdict};
use regex::Regex;

use crate::{refusal, sample, written};

/// One or more samples of a name, as its parser finds them.
const RESULT: &str =
    r"\n([A-Z][\w\-\(\) ]+)\s+([-+]?[0-9]*\.?[0-9]+) (\w+)\s+\(([-+]?[0-9]*\.?[0-9]+) (\w+), (\d+) samples\)";
const SCORE_LINE: &str =
    r"\n([A-Z][\w\-\(\) ]+)\s+([-+]?[0-9]*\.?[0-9]+)\s+([-+]?[0-9]*\.?[0-9]+)\s+([-+]?[0-9]*\.?[0-9]+)";
const TOTAL: &str = r"\nSystem Benchmarks Index Score\s+([-+]?[0-9]*\.?[0-9]+)";
const COPIES_LINE: &str = r"running (\d+) parallel cop[yies]+ of tests";
const START: &str = "Benchmark Run:";

/// USAGE's example, some of its tests: title, unit, baseline, score, index.
const TESTS: &[(&str, &str, &str, [f64; 3])] = &[
    ("shell8", "Shell Scripts (8 concurrent)", "lpm", [6.0, 1064.5, 1774.2]),
    ("pipe", "Pipe Throughput", "lps", [12440.0, 2_221_775.6, 1786.0]),
    ("dhry2reg", "Dhrystone 2 using register variables", "lps", [116_700.0, 34_872_897.7, 2988.3]),
];

fn record(total_tests: f64) -> Record {
    let mut record = sample::empty();
    record.machine.topology.online = "0-7".parse().unwrap();
    for copies in [1.0, 8.0] {
        for (name, title, unit, of) in TESTS {
            let mut figure = sample::scored(name, title, copies, unit, *of);
            if *name == "pipe" {
                figure.verdict = Some(Verdict::Suspect);
            }
            record.figures.push(figure);
        }
        let id = format!("system.index.x{copies}");
        let mut total = sample::value(&id, "UnixBench index", Unit::ONE, 2119.9 * copies);
        total.conditions.set(COPIES, copies);
        total.evidence.put(INDEX_TESTS, total_tests);
        record.figures.push(total);
    }
    record
}

#[test]
fn foreign_text_steers_no_terminal_and_makes_no_lines() {
    let mut record = record(12.0);
    let lines = written("unixbench", &record).lines().count();
    for figure in &mut record.figures {
        figure.unit = Unit(sample::HOSTILE.into());
        figure.conditions.set(SCORE_KIND, format!("compatible{}", sample::HOSTILE));
    }
    let text = written("unixbench", &record);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    // One line for each number of copies has the kind.
    assert_eq!(text.lines().count(), lines + 2);
}

#[test]
fn perfkitbenchmarker_reads_it() {
    let text = written("unixbench", &record(12.0));
    let runs: Vec<&str> = text.split(START).skip(1).collect();
    assert_eq!(runs.len(), 2);
    let [result, score_line, total_line, copies_line] =
        [RESULT, SCORE_LINE, TOTAL, COPIES_LINE].map(|pattern| Regex::new(pattern).unwrap());
    for (run, copies) in runs.iter().zip([1.0, 8.0]) {
        assert_eq!(copies_line.captures(run).unwrap()[1].parse::<f64>().unwrap(), copies);
        let results: Vec<(String, f64, &str, &str)> = result
            .captures_iter(run)
            .map(|found| found.extract().1)
            .map(|[title, score, unit, _, _, passes]| {
                (title.trim().into(), score.parse().unwrap(), unit, passes)
            })
            .collect();
        let wanted = [
            ("Dhrystone 2 using register variables".to_owned(), 34_872_897.7, "lps", "7"),
            ("Pipe Throughput".to_owned(), 2_221_775.6, "lps", "7"),
            ("Shell Scripts (8 concurrent)".to_owned(), 1064.5, "lpm", "7"),
        ];
        assert_eq!(results, wanted, "{run}");
        let scores: Vec<[String; 4]> = score_line
            .captures_iter(run)
            .map(|found| [1, 2, 3, 4].map(|group| found[group].trim().to_owned()))
            .collect();
        assert_eq!(scores.len(), TESTS.len(), "{scores:?}");
        assert_eq!(scores[1].join(" "), "Pipe Throughput 12440.0 2221775.6 1786.0");
        let total = total_line.captures(run).unwrap();
        assert_eq!(total[1].parse::<f64>().unwrap(), 2119.9 * copies);
    }
    assert!(text.contains("# ! Pipe Throughput: suspect"), "{text}");
}

#[test]
fn a_part_of_the_tests_is_called_partial() {
    let text = written("unixbench", &record(3.0));
    assert!(text.contains("System Benchmarks Partial Index") && text.contains("Index Score (Partial Only)"));
    assert!(Regex::new(TOTAL).unwrap().captures(&text).is_none(), "a part is no total");
}

#[test]
fn a_record_without_such_tests_is_refused() {
    let error = refusal("unixbench", &sample::empty());
    assert!(error.contains("truebench system"), "{error}");
}
