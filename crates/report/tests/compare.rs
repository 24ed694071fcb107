//! Records side by side: what may be compared, verdicts by known answers, hosts by classes, and what is written.

use compare::{Compared, Comparison, Named, Pattern, Rules, Standing};
use figure::evidence::{
    ALLOCATOR, ARRAY_BYTES, CANARY_BEFORE, COPIES, COPY_SYSTEM, COPY_USER, CORE_KIND, CPU_FOREIGN, CPU_STEAL,
    Evidence, FS_TYPE, ROLE, TEST, TEST_CLASS, THREADS,
};
use figure::host::LogicalCpu;
use figure::{Basis, Better, Figure, Outcome, Reading, Record, Round, Status, Unit, Verdict};

use crate::compare_records::{around, compare, compared, index, page, record, rounds, written};
use crate::sample::{check, planned, put, value};

fn of(host: &str, figures: Vec<Figure>) -> Record {
    Record { figures, ..record(host) }
}

/// One figure that scatters little.
fn steady(host: &str, value: f64) -> Record {
    of(host, vec![around("s.x", value, 0.002)])
}

fn one(comparison: &Comparison) -> &Compared {
    &comparison.pairs[0].figures[0]
}

fn why(comparison: &Comparison) -> &str {
    one(comparison).why.as_deref().unwrap()
}

fn forced(a: &Record, b: &Record) -> Comparison {
    compared(&[a, b], &Rules { force: true, ..Rules::default() })
}

#[test]
fn verdicts_by_known_answers() {
    let base = steady("a", 100.0);
    for (value, spread, standing) in [
        (110.0, 0.002, Standing::Faster),
        (90.0, 0.002, Standing::Slower),
        (100.5, 0.002, Standing::Same),
        (103.0, 0.05, Standing::Inconclusive),
    ] {
        let comparison = compare(&[&base, &of("b", vec![around("s.x", value, spread)])]);
        let ratio = one(&comparison).ratio.unwrap();
        assert_eq!(one(&comparison).standing, standing, "{value}");
        assert!((ratio.value - value / 100.0).abs() < 1e-9, "{ratio:?}");
        assert!(ratio.low.unwrap() < ratio.value && ratio.high.unwrap() > ratio.value, "{ratio:?}");
        let rounds = one(&comparison).rounds_needed;
        assert_eq!(rounds.is_some_and(|rounds| rounds > 8.0), standing == Standing::Inconclusive);
    }
}

#[test]
fn a_latency_that_is_lower_is_faster() {
    let latency = |host, at: f64| {
        let values = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05].map(|more| at + more);
        of(host, vec![rounds("s.l", Unit::NANOSECONDS, Better::Lower, &values)])
    };
    let comparison = compare(&[&latency("a", 100.0), &latency("b", 80.0)]);
    assert_eq!(one(&comparison).standing, Standing::Faster);
    assert!((one(&comparison).ratio.unwrap().value - 1.25).abs() < 1e-3);
    assert!(!comparison.is_slower() && compare(&[&latency("b", 80.0), &latency("a", 100.0)]).is_slower());
}

#[test]
fn few_rounds_give_their_ranges_and_no_interval() {
    let few = |host, values: &[f64]| of(host, vec![rounds("s.x", Unit::LPS, Better::Higher, values)]);
    let comparison = compare(&[&few("a", &[1.0, 1.1, 1.2]), &few("b", &[3.0; 6])]);
    let figure = one(&comparison);
    assert_eq!(figure.standing, Standing::Inconclusive);
    assert_eq!(figure.ranges, Some([(1.0, 1.2), (3.0, 3.0)]));
    assert_eq!(figure.ratio.unwrap().low, None);
    assert!(why(&comparison).contains("3 rounds in A, 6 in B"));
    let text = written(&comparison, "text").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("x (A: 1.00 to 1.20; B: 3.00 to 3.00)"), "{text}");
    let values = |host, at| of(host, vec![value("s.x", "x", Unit::LPS, at)]);
    let comparison = compare(&[&values("a", 2.0), &values("b", 3.0)]);
    assert!((one(&comparison).ratio.unwrap().value - 1.5).abs() < 1e-12);
    assert!(why(&comparison).contains("no rounds"));
    assert_eq!(comparison.pairs[0].corrected_over, 0);
}

/// Refused with these words, unless forced; then stamped with them.
fn refused(a: &Record, b: &Record, words: &str) {
    let comparison = compare(&[a, b]);
    assert_eq!(one(&comparison).standing, Standing::NotComparable, "{words}");
    assert!(why(&comparison).contains(words), "{}", why(&comparison));
    assert!(!comparison.has_ratios());
    let forced = forced(a, b);
    assert!(one(&forced).ratio.is_some() && one(&forced).forced.as_deref().unwrap().contains(words));
    let text = written(&forced, "text");
    assert!(text.contains("--force") && text.contains("forced"), "{text}");
}

type Change = fn(&mut Record);

#[test]
fn what_may_not_be_compared_is_refused_and_stamped_when_forced() {
    let changes: [(Change, &str); 4] = [
        (|record| record.tool.version = "0.2.0".into(), "truebench 0.1.0 and by truebench 0.2.0"),
        (|record| record.schema = 7, "record formats 2 and 7"),
        (|record| record.figures[0].conditions.set(COPIES, 2.0), "copies none in A, 2 in B"),
        (
            |record| {
                record.figures[0].checks.push(check("array-size", Outcome::Fail, "too small", None));
                record.figures[0].verdict = Some(Verdict::Invalid);
            },
            "invalid in B (array-size)",
        ),
    ];
    for (change, words) in changes {
        let mut other = steady("b", 100.0);
        change(&mut other);
        refused(&steady("a", 100.0), &other, words);
    }
}

#[test]
fn a_disturbed_figure_is_compared_and_named() {
    let mut other = steady("b", 110.0);
    other.figures[0].verdict = Some(Verdict::Suspect);
    other.figures[0].checks.push(check("steal", Outcome::Warn, "10 % steal", None));
    let comparison = compare(&[&steady("a", 100.0), &other]);
    assert_eq!(one(&comparison).standing, Standing::Faster);
    assert!(written(&comparison, "text").contains("compared, though suspect in B (steal): x"));
}

/// On one machine threads are the user's choice; between two, the machine's.
#[test]
fn threads_are_a_parameter_on_one_machine_only() {
    let with = |host: &str, threads: f64| {
        let mut record = steady(host, 100.0);
        record.figures[0].conditions.set(THREADS, threads);
        let topology = &mut record.machine.topology;
        topology.online = (0..4).collect();
        topology.allowed = (0..4).collect();
        topology.cpus = (0..4).map(|cpu| LogicalCpu { cpu, ..Default::default() }).collect();
        record
    };
    refused(&with("a", 2.0), &with("a", 4.0), "threads 2 in A, 4 in B");
    let comparison = compare(&[&with("a", 2.0), &with("b", 4.0)]);
    assert_eq!(one(&comparison).standing, Standing::Same);
    assert!(comparison.pairs[0].differences.iter().any(|difference| difference.about == "threads"));
}

/// Figures of different kinds of core are different experiments, on one machine and on two. A machine with one kind has no
/// condition, and is compared as any other processor.
#[test]
fn kinds_of_core_are_a_parameter_where_both_have_one() {
    let with = |host: &str, kind: Option<&str>| {
        let mut record = steady(host, 100.0);
        if let Some(kind) = kind {
            record.figures[0].conditions.set(CORE_KIND, kind.to_owned());
        }
        record
    };
    let slow = with("a", Some("efficiency"));
    refused(&with("a", Some("performance")), &slow, "core_kind performance in A, efficiency in B");
    refused(&with("b", Some("performance")), &slow, "core_kind performance in A, efficiency in B");
    let alike = compare(&[&with("b", Some("efficiency")), &slow]);
    assert_eq!(one(&alike).standing, Standing::Same);
    let server = compare(&[&with("server", None), &slow]);
    assert_eq!(one(&server).standing, Standing::Same);
    assert!(server.pairs[0].differences.iter().any(|difference| difference.about == "core_kind"));
}

#[test]
fn what_has_no_ratio_has_none_by_force_either() {
    let changes: [(Change, &str); 4] = [
        (|record| record.figures[0].unit = Unit::GB_PER_S, "lps in A, GB/s in B"),
        (|record| record.figures[0].value = Some(0.0), "not above zero in B"),
        (
            |record| {
                let figure = &mut record.figures[0];
                (figure.status, figure.value) = (Status::Failed, None);
                figure.reason = Some("it crashed".into());
            },
            "failed in B: it crashed",
        ),
        (|record| record.figures[0].better = Better::Lower, "more is better"),
    ];
    for (change, words) in changes {
        let (base, mut other) = (steady("a", 100.0), steady("a", 100.0));
        change(&mut other);
        let forced = forced(&base, &other);
        assert!(one(&forced).ratio.is_none(), "{words}");
        assert!(why(&forced).contains(words), "{}", why(&forced));
    }
}

#[test]
fn what_the_machine_decides_is_listed_where_it_differs() {
    let with = |host, array: f64, fs: &str, kernel: &str| {
        let mut record = of(host, vec![around("s.x", 1.0, 0.002), around("s.y", 1.0, 0.002)]);
        for figure in &mut record.figures {
            figure.conditions.set(ARRAY_BYTES, array);
            figure.evidence.put(FS_TYPE, fs.to_owned());
        }
        record.machine.kernel.release = Reading::Value(kernel.into());
        record
    };
    let comparison = compare(&[&with("a", 1024.0, "ext4", "6.1"), &with("b", 2048.0, "ext4", "6.12")]);
    let differences = comparison.pairs[0].differences.iter();
    let differences: Vec<_> = differences.map(|one| (one.about.as_str(), one.figures)).collect();
    assert_eq!(differences, [("processor", 0), ("kernel", 0), ("array_bytes", 2)]);
    assert_eq!(comparison.pairs[0].count(Standing::Same), 2);
}

#[test]
fn controls_are_left_out_and_what_one_record_has_is_named() {
    let of_allocator = |name: &str| {
        let mut figure = around(&format!("alloc.pair.{name}.t1"), 10.0, 0.002);
        figure.conditions.set(ALLOCATOR, name.to_owned());
        figure
    };
    let mut doubled = around("s.x.doubled", 1.0, 0.002);
    doubled.conditions.set(ROLE, "doubled".into());
    let with = |host, own: &str| {
        let mut figures = vec![around("s.x", 1.0, 0.002), doubled.clone(), around(own, 1.0, 0.002)];
        // What stands in for an allocator is left out too.
        figures.extend(["glibc", "bump", "void"].map(of_allocator));
        of(host, figures)
    };
    let comparison = compare(&[&with("a", "s.old"), &with("b", "s.new")]);
    let pair = &comparison.pairs[0];
    let ids: Vec<&str> = pair.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!((ids.as_slice(), pair.controls), (&["s.x", "alloc.pair.glibc.t1"][..], 3));
    assert_eq!((pair.only_a.concat(), pair.only_b.concat()), ("s.old".to_owned(), "s.new".to_owned()));
}

/// Figures without rounds, that follow from others, have intervals.
#[test]
fn intervals_of_derived_figures_are_compared() {
    let derived = |host, values: &[f64]| {
        let from = around("s.x", 1.0, 0.002);
        let mut figure = value("s.derived", "d", Unit::LPS, 1.0);
        figure.derive(values, &[&from]).unwrap();
        of(host, vec![figure])
    };
    let a = derived("a", &[1.0, 1.01, 1.02, 1.0, 1.01, 1.02]);
    let b = derived("b", &[2.0, 2.02, 2.04, 2.0, 2.02, 2.04]);
    assert_eq!(one(&compare(&[&a, &b])).standing, Standing::Faster);
}

#[test]
fn among_many_figures_a_chance_is_not_taken_for_a_difference() {
    // One figure is 4.5 % off, by rounds that scatter by 3 %.
    let many = |host, odd: f64, count: usize| {
        let mut figures = vec![around("s.odd", odd, 0.03)];
        figures.extend((0..count).map(|at| around(&format!("s.x{at}"), 100.0, 0.03)));
        of(host, figures)
    };
    let alone = compare(&[&many("a", 100.0, 0), &many("b", 108.0, 0)]);
    assert_eq!(one(&alone).standing, Standing::Faster);
    let among = compare(&[&many("a", 100.0, 60), &many("b", 108.0, 60)]);
    assert_eq!((one(&among).standing, one(&among).alone), (Standing::Inconclusive, Standing::Faster));
    assert!(why(&among).contains("Holm"));
    assert_eq!(among.pairs[0].corrected_over, 61);
    assert!(written(&among, "text").contains("inconclusive (faster alone)"));
}

/// Six tests of three machines; the second one is better in all but the last.
fn three() -> [Record; 3] {
    let machine = |host, scale: [f64; 4]| {
        let tests = [("dhry2reg", scale[0]), ("spawn", scale[1]), ("fstime", scale[2]), ("shell1", scale[3])];
        of(host, tests.iter().map(|(test, value)| index(test, test, 100.0 * value)).collect())
    };
    [("small", [1.0; 4]), ("large", [4.0, 2.0, 3.0, 0.5]), ("second", [2.0, 1.5, 1.2, 1.0])]
        .map(|(host, scale)| machine(host, scale))
}

#[test]
fn hosts_by_class_with_dominance() {
    let records = three();
    let comparison = compare(&records.each_ref());
    let selection = comparison.selection.as_ref().unwrap();
    let classes: Vec<&str> = selection.classes.iter().map(|(class, _)| class.as_str()).collect();
    assert_eq!(classes, ["compute", "process", "files", "shell"]);
    assert!((selection.rows[1][0].mean - 4.0).abs() < 1e-9 && (selection.rows[1][3].mean - 0.5).abs() < 1e-9);
    assert_eq!(selection.dominance, ["C is nowhere worse than A (better in 3 of 4)."]);
    for format in ["text", "markdown"] {
        let text = written(&comparison, format);
        assert!(text.contains("nowhere worse") && text.contains("compute (1)"), "{text}");
    }
}

#[test]
fn a_residual_has_its_cause_and_what_is_ruled_out() {
    let tests = ["dhry2reg", "whetstone-double", "execl", "spawn", "syscall", "shell1", "fsdisk"];
    let machine = |host, slow: f64, kernel: &str| {
        let figures = tests.iter().enumerate().map(|(at, test)| {
            let off = if *test == "syscall" { slow } else { 1.0 };
            let value = 1000.0 * off * (1.0 + 0.003 * at as f64);
            let mut figure = around(&format!("system.{test}"), value, 0.002);
            figure.conditions.set(TEST, (*test).to_owned());
            figure
        });
        let mut record = of(host, figures.collect());
        record.machine.kernel.release = Reading::Value(kernel.into());
        record
    };
    let comparison = compare(&[&machine("a", 1.0, "6.1"), &machine("b", 0.6, "6.12")]);
    let [one] = comparison.pairs[0].abnormal.as_slice() else { panic!("{:?}", comparison.pairs[0].abnormal) };
    assert_eq!(one.id, "system.syscall");
    assert!(one.cause.contains("kernel: 6.1 in A, 6.12 in B"), "{}", one.cause);
    assert!(one.not_recorded.contains(&"mitigations".to_owned()));
    let same = compare(&[&machine("a", 1.0, "6.1"), &machine("b", 0.6, "6.1")]);
    let one = &same.pairs[0].abnormal[0];
    assert!(one.ruled_out[0].contains("kernel (6.1 in both)") && one.cause.starts_with("likely"), "{one:?}");
}

#[test]
fn hostile_names_and_widths_are_harmless() {
    let hostile = |host: &str| {
        let mut record = of(host, vec![around("s.x", 100.0, 0.01), around("s.y", 1e308, 0.0)]);
        record.figures[0].name = "\u{1b}[31m<script>|@all".into();
        let round = Round::new("x".into(), 0.0, vec![f64::MAX, 5e-324], Evidence::default());
        record.figures[1].rounds.push(round);
        record
    };
    let comparison = compare(&[&hostile("\u{1b}]0;x\u{7}a"), &hostile("<b>")]);
    for format in ["text", "markdown", "json"] {
        let text = written(&comparison, format);
        assert!(!text.contains('\u{1b}'), "{format}");
        assert!(format != "markdown" || !text.contains("<script>") && !text.contains("@all"), "{text}");
    }
    for width in [1, 40, 60, 100, 200] {
        let text = page(&comparison, "text", width);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width.max(report::MIN_WIDTH), "{longest} of {width}:\n{text}");
    }
}

/// A program's CPU time of eight rounds, invalid by load: others kept so many CPUs of two busy.
fn under_load(host: &str, seconds: f64, others: f64) -> Record {
    let values: Vec<f64> = (0..8).map(|round| seconds * (1.0 + 0.002 * f64::from(round))).collect();
    let mut figure = rounds("s.x", Unit::SECONDS, Better::Lower, &values);
    figure.conditions.set(TEST_CLASS, "program".to_owned());
    for round in &mut figure.rounds {
        round.duration = 2.0 * seconds;
        let foreign = others * round.duration;
        let facts = [
            (COPY_USER, seconds),
            (COPY_SYSTEM, 0.0),
            (CPU_STEAL, 0.0),
            (CANARY_BEFORE, 3.0),
            (CPU_FOREIGN, foreign),
        ];
        put(&mut round.evidence, facts);
    }
    figure.verdict = Some(Verdict::Invalid);
    figure.checks = vec![check("foreign-load", Outcome::Fail, "others", None)];
    of(host, vec![figure])
}

#[test]
fn load_that_both_records_had_leaves_a_large_ratio_its_direction() {
    let base = under_load("a", 1.0, 0.5);
    let against = |seconds, others| compare(&[&base, &under_load("b", seconds, others)]);
    // 0.5 CPUs of other processes explain 1.5x at most.
    let slower = against(4.0, 0.5);
    assert_eq!((one(&slower).standing, one(&slower).is_direction_only), (Standing::Slower, true));
    assert!(one(&slower).suspect.iter().any(|text| text.contains("1.50x")), "{:?}", one(&slower).suspect);
    assert!(!slower.is_slower() && slower.has_ratios(), "a direction fails no gate");
    assert_eq!(one(&against(0.25, 0.5)).standing, Standing::Faster);
    let small = against(1.3, 0.5);
    assert_eq!((one(&small).standing, one(&small).is_direction_only), (Standing::NotComparable, false));
    assert_eq!(one(&against(4.0, 0.0)).standing, Standing::NotComparable, "load in one of them alone");
    let mut void = under_load("b", 4.0, 0.5);
    void.figures[0].checks[0].id = "verified".into();
    assert_eq!(one(&compare(&[&base, &void])).standing, Standing::NotComparable, "not by load");
}

#[test]
fn a_record_is_the_same_as_itself_in_all_that_was_measured() {
    let noisy = rounds("s.noisy", Unit::LPS, Better::Higher, &[1.0, 2.0, 4.0, 1.5, 9.0, 3.0, 2.5]);
    let neither = rounds("s.rate", Unit::LPS, Better::Neither, &[10.0, 12.0, 11.0, 10.5, 9.0, 30.0]);
    let below = rounds("s.less", Unit::NANOSECONDS, Better::Lower, &[-1.0, 0.5, 0.1, -0.2, 0.3, -0.6]);
    let zero = rounds("s.zero", Unit::ONE, Better::Lower, &[0.0; 6]);
    let few = rounds("s.few", Unit::LPS, Better::Higher, &[1.0, 2.0]);
    let mut invalid = rounds("s.invalid", Unit::LPS, Better::Higher, &[1.0; 6]);
    invalid.verdict = Some(Verdict::Invalid);
    let missing = planned("s.none", "none", Unit::LPS, Better::Higher);
    let record = of("a", vec![noisy, neither, below, zero, few, invalid, missing]);
    let standings = |comparison: &Comparison| -> Vec<Standing> {
        comparison.pairs[0].figures.iter().map(|figure| figure.standing).collect()
    };
    let comparison = compare(&[&record, &record]);
    assert_eq!(standings(&comparison)[..5], [Standing::Same; 5]);
    assert_eq!(standings(&comparison)[5..], [Standing::NotComparable; 2], "invalid, and without a value");
    assert!(comparison.pairs[0].figures[5..].iter().all(|figure| figure.why.is_some()));
    // Another run with the same spread is another measurement.
    let again = Record { started: "2026-03-02T10:20:30Z".into(), ..record.clone() };
    let (unsure, none) = (Standing::Inconclusive, Standing::NotComparable);
    let expected = [unsure, unsure, none, Standing::Same, unsure, none, none];
    assert_eq!(standings(&compare(&[&record, &again])), expected);
}

#[test]
fn what_has_no_direction_is_the_same_or_changed_and_never_slower() {
    let rates = |host, at: f64| {
        let values: Vec<f64> = (0..8).map(|round| at * (1.0 + 0.001 * f64::from(round))).collect();
        of(host, vec![rounds("s.r", Unit::LPS, Better::Neither, &values)])
    };
    let standing = |a: &Record, b: &Record| one(&compare(&[a, b])).standing;
    assert_eq!(standing(&rates("a", 100.0), &rates("b", 50.0)), Standing::Changed);
    assert_eq!(standing(&rates("a", 100.0), &rates("b", 100.1)), Standing::Same);
    let comparison = compare(&[&rates("a", 100.0), &rates("b", 50.0)]);
    assert!((one(&comparison).ratio.unwrap().value - 0.5).abs() < 1e-9, "how many times as large");
    assert!(!comparison.is_slower());
    for format in ["text", "markdown", "html", "json"] {
        assert!(written(&comparison, format).contains("changed"), "{format}");
    }
    // Counts are compared as they are, with one reading on each side.
    let count = |host, at: f64| {
        let mut figure = value("s.c", "goroutines", Unit::ONE, at);
        (figure.basis, figure.better) = (Basis::Count, Better::Lower);
        of(host, vec![figure])
    };
    let comparison = compare(&[&count("a", 200.0), &count("b", 900.0)]);
    assert_eq!((one(&comparison).standing, comparison.is_slower()), (Standing::Changed, false));
    assert!(one(&comparison).is_judged());
    assert_eq!(standing(&count("a", 200.0), &count("b", 201.0)), Standing::Same);
}

#[test]
fn figures_are_chosen_and_required_by_patterns() {
    let all = |host, y: &[f64]| {
        of(host, vec![around("s.x", 100.0, 0.002), rounds("s.y", Unit::LPS, Better::Higher, y)])
    };
    let (a, b) = (all("a", &[1.0, 1.1]), all("b", &[1.0, 1.2]));
    let pattern = |text: &str| Pattern::parse(text).unwrap();
    let chosen = |text: &str| {
        let rules = Rules { figures: vec![pattern(text)], ..Rules::default() };
        let names = [&a, &b].map(|record| Named { name: "n".into(), record });
        compare::compare(&names, &rules)
    };
    let ids = |comparison: Comparison| -> Vec<String> {
        comparison.pairs[0].figures.iter().map(|figure| figure.id.clone()).collect()
    };
    assert_eq!(ids(chosen("s.y").unwrap()), ["s.y"]);
    assert_eq!(ids(chosen("s.*").unwrap()), ["s.x", "s.y"]);
    assert!(chosen("t.*").unwrap_err().contains("--figure t.*"));
    let comparison = compare(&[&a, &b]);
    assert_eq!((comparison.pairs[0].judged, comparison.is_judged()), (1, true));
    assert!(!chosen("s.y").unwrap().is_judged(), "two rounds");
    let unjudged = |text: &str| comparison.unjudged(&[pattern(text)]);
    assert!(unjudged("s.x").is_empty() && unjudged("s.*").is_empty());
    assert!(unjudged("s.y")[0].contains("2 rounds in A, 2 in B"), "{:?}", unjudged("s.y"));
    assert!(unjudged("s.z")[0].contains("no such figure"), "{:?}", unjudged("s.z"));
}
