//! `perf stat` in all its forms: text, CSV and JSON; of a run, of repetitions, by intervals, on processors with two kinds of cores.

use audit::Source;
use figure::evidence::audit::{ERROR_OF_MEAN, MOMENTS, UNJUDGED};
use figure::{Record, Status, Unit, Verdict};

use crate::loads_reports::{cuts_accuse_of_nothing_else, wrappings_change_nothing};
use crate::published::{self, Case, judged, nothing};

pub const CASES: &[Case] = &[
    case!(
        "perf-619",
        nothing,
        [
            ("perf-stat.page-faults-u", Valid, ""),
            ("perf-stat.task-clock-u", Valid, ""),
            ("perf-stat.branch-misses-u", Suspect, "counter-coverage"),
            ("perf-stat.branches-u", Suspect, "counter-coverage"),
            ("perf-stat.cpu-cycles-u", Suspect, "counter-coverage"),
            ("perf-stat.instructions-u", Suspect, "counter-coverage"),
            ("perf-stat.stalled-cycles-frontend-u", Suspect, "counter-coverage"),
            ("perf-stat.elapsed", Valid, ""),
        ]
    ),
    case!(
        "perf-naive",
        nothing,
        [
            ("perf-stat.page-faults-u", Valid, ""),
            ("perf-stat.branch-misses-u", Suspect, "counter-coverage"),
            ("perf-stat.branches-u", Suspect, "counter-coverage"),
            ("perf-stat.cpu-cycles-u", Suspect, "counter-coverage"),
            ("perf-stat.instructions-u", Suspect, "counter-coverage"),
            ("perf-stat.cpu-time", Valid, ""),
        ]
    ),
    case!("perf-in", nothing, [("perf-stat.cpu_core-instructions-u", Valid, "")]),
    case!("perf-ns", nothing, [("perf-stat.task-clock-u", Valid, ""), ("perf-stat.cpu-time", Valid, "")]),
    case!(
        "perf-hybrid",
        nothing,
        [
            ("perf-stat.cpu_core-cycles", Valid, ""),
            ("perf-stat.cpu_atom-cycles", Suspect, "counter-coverage"),
            ("perf-stat.cpu_atom-instructions", Suspect, "counter-coverage"),
            ("perf-stat.cpu_atom-branches", Suspect, "counter-coverage"),
            ("perf-stat.cpu_atom-branch-misses", Suspect, "counter-coverage"),
        ]
    ),
    case!("perf-hybrid-true", nothing, [("perf-stat.cpu_core-instructions", Valid, "")]),
    case!(
        "perf-adl",
        nothing,
        [
            ("perf-stat.cpu_core-instructions", Valid, ""),
            ("perf-stat.cpu_atom-cycles", Suspect, "counter-coverage"),
            ("perf-stat.cpu_atom-branches", Suspect, "counter-coverage"),
            // Both by cycles and branches of the other kind of core.
            ("perf-stat.cpu_atom-instructions", Invalid, "inconsistent-totals"),
            ("perf-stat.cpu_atom-branch-misses", Invalid, "inconsistent-totals"),
        ]
    ),
    case!("perf-spr", nothing, [("perf-stat.cpu-clock", Valid, ""), ("perf-stat.branch-misses", Valid, "")]),
    case!("perf-csv-spr", nothing, [("perf-stat.instructions", Valid, "")]),
    case!(
        "perf-json",
        nothing,
        [("perf-stat.instructions", Valid, ""), ("perf-stat.branch-misses", Valid, "")]
    ),
    case!("perf-json-613", nothing, [("perf-stat.topdown-retiring", Valid, "")]),
    case!("perf-json-hybrid", nothing, [("perf-stat.cpu_core-branch-misses", Valid, "")]),
    case!(
        "perf-json-interval",
        nothing,
        [
            ("perf-stat.cpu-clock", Valid, ""),
            ("perf-stat.instructions", Valid, ""),
            ("perf-stat.cycles", Valid, "")
        ]
    ),
    case!("perf-interval-skb", nothing, [("perf-stat.skb-kfree_skb", Valid, "")]),
    case!(
        "perf-interval-summary",
        nothing,
        [("perf-stat.instructions", Valid, ""), ("perf-stat-2.cycles", Valid, "")]
    ),
    case!(
        "perf-interval-csv",
        nothing,
        [("perf-stat.instructions", Valid, ""), ("perf-stat.page-faults", Valid, "")]
    ),
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

fn figure<'a>(record: &'a Record, id: &str) -> &'a figure::Figure {
    published::figure(record, &format!("perf-stat.{id}"))
}

fn says(text: &str, id: &str) -> (Option<Verdict>, String) {
    published::says(&judged(&[text], &nothing()), &format!("perf-stat.{id}"))
}

#[test]
fn published_texts_get_their_verdicts() {
    published::each_gets_its_verdict(CASES);
}

#[test]
fn a_cut_text_is_accused_of_nothing_else() {
    for case in CASES {
        cuts_accuse_of_nothing_else(case.file, case.text);
    }
}

#[test]
fn sound_runs_are_accused_of_nothing_but_shared_counters() {
    let record = judged(&[include_str!("data/perf-sound.txt")], &nothing());
    // A run below each head, and two without one.
    assert!(record.figure("audit.perf-stat-10.cycles").is_some() && record.figures.len() > 60);
    for figure in record.figures.iter().filter(|figure| figure.verdict >= Some(Verdict::Suspect)) {
        let reasons: Vec<&str> = judge::reasons(figure).map(|check| check.id.as_str()).collect();
        assert_eq!(reasons, ["counter-coverage"], "{}: {:?}", figure.id, figure.value);
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
    for (file, id, expected, unit) in [
        ("perf-619", "instructions-u", 4.1, "insn/cycle"),
        ("perf-619", "page-faults-u", 13.7, "1/s"),
        ("perf-619", "branches-u", 4405.3e6, "1/s"),
        ("perf-619", "cpu-cycles-u", 5.5, "GHz"),
        ("perf-619", "task-clock-u", 1.0, "CPUs"),
        ("perf-619", "stalled-cycles-frontend-u", 18.0, "%"),
        ("perf-in", "cpu_core-branch-misses-u", 0.3, "%"),
        ("perf-in", "cpu_core-branches-u", 2875.5e6, "1/s"),
        ("perf-ns", "task-clock-u", 0.904, "CPUs"),
        ("perf-hybrid-true", "cpu_core-instructions", 1.02, "insn/cycle"),
        ("perf-json", "branch-misses", 0.742889, "%"),
        ("perf-json", "cpu-clock", 225904.823297, "ms"),
        ("perf-json-613", "TOPDOWN-SLOTS", 18693525.0, "1"),
        ("perf-json-interval", "cpu-clock", 16.045281, "CPUs"),
        ("perf-json-interval", "context-switches", 623.423156, "1/s"),
        ("perf-interval-csv", "instructions", 0.51, "insn/cycle"),
        ("perf-interval-summary", "instructions", 0.30, "insn/cycle"),
    ] {
        let record = judged(&[text(file)], &nothing());
        let found = figure(&record, id);
        assert!((found.value.unwrap() - expected).abs() < 1e-6 * expected, "{file}: {id} {:?}", found.value);
        assert_eq!(found.unit, Unit(unit.to_owned().into()), "{file}: {id}");
    }
}

#[test]
fn intervals_are_moments_and_their_rates_are_by_their_own_length() {
    let record = judged(&[text("perf-interval-skb")], &nothing());
    let own = figure(&record, "skb-kfree_skb");
    assert_eq!((own.rounds.len(), own.conditions.get(MOMENTS)), (10, Some(true)));
    assert_eq!(own.unit, Unit::PER_S);
    let values = own.kept_values();
    for (at, rate) in [(0, 10_108.0 / 1.000520165), (1, 11_178.0 / 1.009974329), (9, 313_105.0 / 0.675607054)]
    {
        assert!((values[at] - rate).abs() < 1e-3 * rate, "{at}: {} {rate}", values[at]);
    }
    // Without the lines before it the length of an interval is unknown.
    let lines: Vec<&str> = text("perf-interval-skb").lines().collect();
    let record = judged(&[&lines[5..].join("\n")], &nothing());
    assert_eq!(figure(&record, "skb-kfree_skb").rounds.len(), 6);
    let record = judged(&[lines[5]], &nothing());
    let own = figure(&record, "skb-kfree_skb");
    assert_eq!((own.value, own.unit.clone()), (Some(11_334.0), Unit::ONE));
    // What the program prints between them parts no run.
    let between: String = lines.iter().map(|line| format!("{line}\nrequest handled\n")).collect();
    let record = judged(&[&between], &nothing());
    assert_eq!(figure(&record, "skb-kfree_skb").rounds.len(), 10);
}

#[test]
fn intervals_of_a_second_run_are_not_those_of_the_first() {
    let two = format!("{0}{0}", text("perf-interval-skb"));
    let record = judged(&[&two], &nothing());
    let own = figure(&record, "skb-kfree_skb");
    let largest = own.kept_values().into_iter().fold(0.0, f64::max);
    assert_eq!(own.rounds.len(), 20);
    assert!(largest < 500_000.0, "{largest}");
    // One interval each, the second a little later.
    let one = |at: &str| {
        format!(
            "#           time             counts unit events\n     {at}             10,108      skb:kfree_skb\n\n"
        )
    };
    let record = judged(
        &[&format!(
            "$ perf stat -I 1000 x\n{}$ perf stat -I 1000 x\n{}",
            one("1.000520165"),
            one("1.000520199")
        )],
        &nothing(),
    );
    assert!(
        record.figures.iter().all(|figure| figure.value.is_some_and(|value| value < 20_000.0)),
        "{:#?}",
        record.figures
    );
}

#[test]
fn a_last_interval_that_is_shorter_is_no_contradiction() {
    let text = "#           time             counts unit events\n\
                1.000100000           1,000.10 msec task-clock                #    1.000 CPUs utilized\n\
                1.200100000             200.00 msec task-clock                #    0.200 CPUs utilized\n";
    let record = judged(&[text], &nothing());
    let own = figure(&record, "task-clock");
    assert_eq!((own.value, own.verdict), (Some(1.0), Some(Verdict::Valid)));
    // One alone may be shorter than what was asked for.
    let one: String = text.lines().take(1).map(|line| format!("{line}\n")).collect::<String>()
        + "0.500100000 500.00 msec task-clock # 0.500 CPUs utilized\n";
    assert_ne!(says(&one, "task-clock").0, Some(Verdict::Invalid));
}

#[test]
fn what_is_read_and_not_judged_is_named() {
    for (file, words) in [
        ("perf-spr", &["tma_backend_bound", "tma_core_bound"][..]),
        ("perf-csv-spr", &["tma_backend_bound", "CPUs utilized"]),
        ("perf-json-613", &["tma_retiring", "tma_backend_bound"]),
        ("perf-619", &["table of individual measurements"]),
        ("perf-ns", &["stalled cycles per insn"]),
    ] {
        let record = judged(&[text(file)], &nothing());
        let named = record.figures[0].evidence.get(UNJUDGED).into_value().unwrap_or_default();
        assert!(words.iter().all(|word| named.contains(word)), "{file}: {named}");
    }
}

#[test]
fn what_was_not_counted_is_no_figure() {
    for (file, id, status) in [
        ("perf-hybrid-true", "cpu_atom-cycles", Status::Failed),
        ("perf-hybrid-true", "cpu_core-stalled-cycles-frontend", Status::NotAvailable),
        ("perf-json-hybrid", "cpu_atom-branch-misses", Status::Failed),
        ("perf-in", "cpu_atom-branches-u", Status::Failed),
        ("perf-619", "context-switches-u", Status::Failed),
    ] {
        let record = judged(&[text(file)], &nothing());
        let own = figure(&record, id);
        assert_eq!((own.value, own.status), (None, status), "{file}: {id}");
    }
    // An interval in which nothing was counted takes no other with it.
    let text = text("perf-interval-skb").replace("             10,770", "      <not counted>");
    let record = judged(&[&text], &nothing());
    assert_eq!(figure(&record, "skb-kfree_skb").rounds.len(), 9);
    let text = text.replace("             10,108", "      <not counted>");
    let record = judged(&[&text], &nothing());
    assert_eq!(figure(&record, "skb-kfree_skb").rounds.len(), 8);
}

#[test]
fn a_wrong_metric_is_named_in_every_form() {
    let invalid = (Some(Verdict::Invalid), "inconsistent-totals".to_owned());
    for (file, from, to, id) in [
        ("perf-619", "4.1 instructions", "6.1 instructions", "instructions-u"),
        ("perf-naive", "42040.3 faults/sec", "4204.3 faults/sec", "page-faults-u"),
        ("perf-spr", "224.588 CPUs", "2.246 CPUs", "cpu-clock"),
        ("perf-json", "\"0.797391\"", "\"1.797391\"", "instructions"),
        ("perf-json-interval", "\"623.423156\"", "\"62.423156\"", "context-switches"),
        ("perf-csv-spr", "0.73,insn", "1.73,insn", "instructions"),
        ("perf-interval-csv", "5.26,of", "55.26,of", "branch-misses"),
        ("perf-hybrid-true", "1.02  insn", "2.02  insn", "cpu_core-instructions"),
    ] {
        let broken = text(file).replace(from, to);
        assert_ne!(broken, text(file), "{file}: {from}");
        assert_eq!(says(&broken, id), invalid, "{file}: {from}");
    }
}

#[test]
fn repetitions_have_an_error_in_every_form() {
    let csv = "4365.30,msec,task-clock,12.60%,4365300000,100.00,1.000,CPUs utilized\n\
               97305656299,,instructions,0.01%,4365300000,100.00,4.08,insn per cycle\n";
    assert_eq!(says(csv, "task-clock"), (Some(Verdict::Suspect), "repeats".to_owned()));
    assert_eq!(says(csv, "instructions").0, Some(Verdict::Valid));
    let json = "{\"counter-value\" : \"4365.300000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"variance\" : 12.60, \
                \"event-runtime\" : 4365300000, \"pcnt-running\" : 100.00, \"metric-value\" : \"1.000000\", \"metric-unit\" : \
                \"CPUs utilized\"}";
    assert_eq!(says(json, "task-clock"), (Some(Verdict::Suspect), "repeats".to_owned()));
    let record = judged(&[text("perf-619")], &nothing());
    let error = figure(&record, "page-faults-u").over_rounds(ERROR_OF_MEAN).into_value().unwrap();
    assert!((error[0] - 0.0022).abs() < 1e-12, "{error:?}");
}

#[test]
fn counts_of_several_places_are_kept_apart() {
    let text = " Performance counter stats for 'system wide':\n\n\
                CPU0               1,001.20 msec cpu-clock                 #    1.000 CPUs utilized\n\
                CPU1               1,001.20 msec cpu-clock                 #    1.000 CPUs utilized\n\
                CPU0                  1,154      sched:sched_switch\nCPU1                    555      sched:sched_switch\n\
                CPU0             10,000,000      cycles\n\
                CPU0              9,000,000      instructions             #    0.90  insn per cycle\n\n       \
                1.001200000 seconds time elapsed\n";
    let record = judged(&[text], &nothing());
    assert_eq!(figure(&record, "sched-sched_switch-CPU1").value, Some(555.0));
    assert_eq!(figure(&record, "instructions-CPU0").verdict, Some(Verdict::Valid));
    let text = "S0,8,8013.48,msec,cpu-clock,8013483384,100.00,8.003,CPUs utilized\n\
                S1,8,8013.48,msec,cpu-clock,8013483384,100.00,8.003,CPUs utilized\n";
    let record = judged(&[text], &nothing());
    assert_eq!(figure(&record, "cpu-clock-S1").value, Some(8013.48));
    let text = "{\"core\" : \"S0-D0-C15\", \"aggregate-number\" : 2, \"counter-value\" : \"233533.000000\", \"unit\" : \
                \"\", \"event\" : \"instructions\", \"event-runtime\" : 2865528, \"pcnt-running\" : 99.00, \
                \"metric-value\" : 0.297920, \"metric-unit\" : \"insn per cycle\"}\n";
    let record = judged(&[text], &nothing());
    // A share that was cut to whole percents may be all but a hundredth more.
    assert_eq!(figure(&record, "instructions-S0-D0-C15").verdict, Some(Verdict::Valid));
}

#[test]
fn runs_below_one_head_have_their_own_clocks() {
    let block = |clock: &str, cycles: &str| {
        format!(
            "{clock} msec task-clock   #    1.000 CPUs utilized\n{cycles}   cycles   #    3.441 GHz\n65,102,895,542  instructions\n\n"
        )
    };
    let text = format!(
        " Performance counter stats for './signal':\n\n{}{}",
        block("13,085.72", "45,024,760,101"),
        block("6,494.54", "22,346,359,779")
    );
    let record = judged(&[&text], &nothing());
    for id in ["cycles", "cycles-2", "task-clock-2", "instructions-2"] {
        assert_eq!(figure(&record, id).verdict, Some(Verdict::Valid), "{id}");
    }
    // Digits in groups as in India, of a run whose first lines are lost.
    let text = "71,67,29,23,288      cycles                                                        (100.00%)\n\
                1,13,16,36,95,604      instructions              #  1.58  insn per cycle             (100.00%)\n";
    assert_eq!(judged(&[text], &nothing()).figures[0].value, Some(113_163_695_604.0));
}

#[test]
fn decimal_commas_are_refused() {
    let refused = |text: &str| {
        let refused = audit::figures(&[Source::of("perf.txt", text)], &nothing());
        assert!(
            refused.as_ref().is_err_and(|refused| refused.to_string().contains("LC_ALL=C")),
            "{text}: {refused:?}"
        );
    };
    let italian = include_str!("refused/perf-it.txt");
    refused(italian);
    // Also where the last lines are lost, which show it best.
    let lines: Vec<&str> = italian.lines().collect();
    for at in 6..lines.len() {
        refused(&lines[..at].join("\n"));
    }
    refused(
        "{\"interval\" : 1,001089747, \"counter-value\" : \"16045,281449\", \"unit\" : \"msec\", \
         \"event\" : \"cpu-clock\", \"event-runtime\" : 16045355135, \"pcnt-running\" : 100,00}\n",
    );
}

#[test]
fn prose_with_numbers_is_no_run() {
    for text in
        ["100 requests\n", "1000 cycles\n3 apples\n", "12 branches # see below\n", "1.5 seconds elapsed\n"]
    {
        assert!(audit::figures(&[Source::of("x", text)], &nothing()).is_err(), "{text}");
    }
}
