//! The text report: what it says, and that it keeps within its width.

use crate::{sample, write, written};

use figure::series::CoordinateValue;
use figure::{Better, Outcome, Record, Unit, Verdict};
use report::{MIN_WIDTH, Options};
use unicode_width::UnicodeWidthStr;

fn text(record: &Record, options: &Options) -> String {
    write("text", record, options).unwrap()
}

fn at(width: usize, record: &Record) -> String {
    text(record, &Options::new(width))
}

/// Names of snapshots, the widths that they are taken at, and what they show.
#[test]
fn pages() {
    let cases: [(&str, &[usize], Record); 18] = [
        ("empty", &[80], sample::empty()),
        ("tests", &[80], sample::tests()),
        ("quiet", &[80], sample::quiet()),
        ("full", &[60, 80, 200], sample::full()),
        ("interrupted", &[80], sample::interrupted()),
        ("curve", &[80], sample::curve()),
        ("modes", &[60, 80, 200], sample::modes::all()),
        ("family", &[60, 80, 200], sample::family::family()),
        ("unknown_modes", &[80], sample::modes::unknown()),
        ("noise", &[80], sample::modes::noise(256)),
        ("tried", &[80], sample::modes::tried()),
        ("allocators", &[60, 80], sample::alloc::answer()),
        ("loads", &[60, 80, 200], sample::loads::study()),
        ("a_search_shows_what_it_tried", &[80], sample::loads::searched()),
        ("a_load_that_was_asked_for", &[80], sample::loads::asked()),
        ("a_walk", &[60, 80, 200], sample::walked()),
        ("watched", &[60, 80], sample::watched::watched()),
        ("large_blocks", &[80], sample::watched::with_blocks()),
    ];
    for (name, widths, record) in &cases {
        for width in *widths {
            insta::assert_snapshot!(format!("{name}_at_{width}"), at(*width, record));
        }
    }
}

#[test]
fn a_walk_of_which_too_little_is_known_is_a_table() {
    let mut record = sample::walked();
    for round in record.figures.iter_mut().flat_map(|figure| &mut figure.rounds) {
        round.evidence = figure::Evidence::default();
    }
    let text = at(80, &record);
    assert!(text.contains("faults.walk: what is in memory") && !text.contains('│'), "{text}");
    // Of one arm all is known.
    let mut record = sample::walked();
    record.figures.truncate(13);
    let text = at(80, &record);
    assert!(text.contains("dynamic thresholds, as") && !text.contains("frozen thresholds ("), "{text}");
}

#[test]
fn of_many_cpus_the_worst_are_shown() {
    let text = at(80, &sample::modes::noise(256));
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.contains("──")).skip(1).take(24).collect();
    let cpus: Vec<&str> = rows.iter().filter_map(|row| row.split_whitespace().next()).collect();
    assert_eq!(cpus[..4], ["all", "77", "3", "255"], "all of them, then the worst first:\n{text}");
    assert!(text.contains("the worst 24 of 257 points"), "{text}");
    // A few are in their order.
    let few = at(80, &sample::modes::noise(8));
    let order: Vec<usize> = (0..8).filter_map(|cpu| few.find(&format!("\n  {cpu} "))).collect();
    assert!(order.len() == 8 && order.is_sorted(), "{few}");
}

#[test]
fn lines_fit_the_page_and_end_in_no_white_space() {
    for (number, record) in sample::all().iter().enumerate() {
        for width in (MIN_WIDTH..=132).chain((139..=210).step_by(7)) {
            for line in at(width, record).lines() {
                let columns = line.width();
                assert!(columns <= width, "record {number} at {width}: {columns} columns: {line}");
                assert_eq!(line, line.trim_end(), "record {number} at {width}");
            }
        }
    }
}

#[test]
fn no_name_of_a_check_is_broken() {
    let mut record = sample::loads::study();
    let warn = |figure| {
        sample::judged(figure, vec![sample::check("placement-dependent", Outcome::Warn, "moved", None)])
    };
    record.figures = record.figures.into_iter().map(warn).collect();
    for width in 72..=132 {
        let page = write("summary", &record, &Options::new(width)).unwrap();
        let table = page.split("\n\n").find(|block| block.contains("verdict")).unwrap();
        let rows = table.matches("! ").count();
        assert!(rows > 0 && table.matches("placement-dependent").count() == rows, "{width}:\n{table}");
    }
}

#[test]
fn the_end_of_a_run_is_one_screen_whose_counts_agree() {
    let counts = regex::Regex::new(r"(?m)^  \S (\d+) (invalid|suspect): ").unwrap();
    let others = regex::Regex::new(r"(?m)^  \S (invalid|suspect) for other causes: ((?:.|\n {4})*)").unwrap();
    for record in sample::all() {
        let page = written("summary", &record);
        // With the line that names the report.
        assert!(page.lines().count() < 40, "{} lines:\n{page}", page.lines().count());
        let of = |verdict| record.figures.iter().filter(|figure| figure.verdict == Some(verdict)).count();
        let judged = record.figures.iter().filter(|figure| figure.verdict.is_some()).count();
        let first = format!("{} of {judged} figure", of(Verdict::Valid));
        assert!(page.contains(&first), "{first}:\n{page}");
        for (verdict, name) in [(Verdict::Invalid, "invalid"), (Verdict::Suspect, "suspect")] {
            let named = counts.captures_iter(&page).filter(|found| &found[2] == name);
            let named: usize = named.map(|found| found[1].parse::<usize>().unwrap()).sum();
            let other = others.captures_iter(&page).find(|found| &found[1] == name);
            let other: usize = other.map_or(0, |found| {
                found[2]
                    .split(',')
                    .filter_map(|part| part.split_whitespace().next()?.parse::<usize>().ok())
                    .sum()
            });
            assert_eq!(named + other, of(verdict), "{name}:\n{page}");
        }
    }
}

#[test]
fn foreign_text_cannot_steer_the_terminal_and_is_bounded() {
    for record in sample::all() {
        let text = at(80, &record);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{202e}'));
        assert!(!text.contains("owned"), "the title that an escape sequence would set is not shown");
    }
    // 40 foreign texts of 3 kB each; none may fill the screen.
    let text = at(80, &sample::hostile());
    assert!(text.len() < 40_000, "{} bytes", text.len());
}

#[test]
fn every_point_has_a_row_or_a_reason() {
    for record in [sample::modes::mix(), sample::modes::c2c()] {
        let text = at(200, &record);
        for figure in &record.figures {
            let CoordinateValue::Name(name) = &figure.at.values().next().unwrap().value else { panic!() };
            let rows = || text.lines().filter(|line| line.contains(name.as_str()));
            match &figure.reason {
                Some(reason) => assert!(rows().any(|line| line.contains(reason.as_str())), "{}", figure.id),
                None => assert!(rows().any(|line| line.contains('█')), "{}", figure.id),
            }
        }
    }
}

#[test]
fn points_of_one_reason_are_listed_together() {
    let text = at(80, &sample::modes::no_counters());
    assert_eq!(text.matches("no uncore PMU").count(), 1);
    assert!(!text.contains("Not measured"), "printed under the mode's heading");
    let text = at(200, &sample::modes::ladder());
    assert!(
        text.contains("not available: needs 1.1 GiB") && text.contains("(645 MiB, 813 MiB, 1 GiB)"),
        "{text}"
    );
}

#[test]
fn curves_keep_out_of_the_tables_of_kernels() {
    // Counters name a kernel and its stores, as the kernels' own figures do.
    let mut record = sample::quiet();
    let before = at(80, &record);
    record.figures.extend(sample::modes::counters().figures);
    let after = at(80, &record);
    let table =
        |text: &str| text.split("\n\n").find(|part| part.starts_with("memory, STREAM")).unwrap().to_owned();
    assert_eq!(table(&before), table(&after));
}

#[test]
fn figures_without_a_series_stand_side_by_side_by_their_ids() {
    let text = at(80, &sample::modes::without_series());
    let row = text.lines().find(|line| line.contains("copy") && line.contains("regular")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert!(words.starts_with(&["copy", "regular", "90.6"]), "{row}");
    assert!(words.contains(&"46.1") && words.contains(&"136.7"), "{row}");
}

#[test]
fn a_tool_stands_next_to_truebench() {
    let text = at(80, &sample::modes::cross());
    let head = text.lines().find(|line| line.contains("truebench") && line.contains("stream ")).unwrap();
    assert!(head.contains("likwid-bench"));
    assert!(text.contains("down: tool, kernel, across: by"), "{text}");
}

#[test]
fn a_bar_is_hatched_where_the_figure_is_invalid() {
    let text = at(80, &sample::modes::ladder());
    let row =
        |place: &str| text.lines().find(|line| line.trim_start().starts_with(place)).unwrap().to_owned();
    assert!(row("16 MiB").contains('░') && !row("16 MiB").contains('█'));
    assert!(row("128 KiB").contains('█') && row("128 KiB").contains("! suspect"));
}

#[test]
fn an_ascii_locale_gets_ascii() {
    for record in [sample::full(), sample::modes::all()] {
        for width in [40, 60, 80, 200] {
            let options = Options { ascii: true, ..Options::new(width) };
            let ascii = text(&record, &options);
            assert!(ascii.is_ascii(), "{:?}", ascii.chars().find(|c| !c.is_ascii()));
            assert_eq!(ascii.lines().count(), at(width, &record).lines().count());
            assert!(ascii.lines().all(|line| line == line.trim_end()));
        }
    }
    let text = text(&sample::modes::ladder(), &Options { ascii: true, ..Options::new(80) });
    assert!(text.contains("####") && text.contains("+ valid") && text.contains("x invalid"));
}

#[test]
fn sentences_that_differ_in_numbers_alone_are_printed_once_for_a_curve() {
    let text = at(80, &sample::modes::ladder());
    assert_eq!(text.matches("fits the L1 cache").count(), 1);
    assert!(text.contains("ladder.16K: 310.0 GB/s"), "and for which point");
}

#[test]
fn each_verdict_has_a_mark_of_its_own_without_colour() {
    let text = at(80, &sample::full());
    for cell in ["✓ valid", "! suspect: steal", "✗ invalid: array-size", "? unverified: rounds"] {
        assert!(text.contains(cell), "{cell}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn colour_changes_no_character() {
    let options = Options { colour: true, ..Options::new(80) };
    for record in [sample::full(), sample::interrupted(), sample::curve(), sample::modes::all()] {
        let coloured = text(&record, &options);
        assert!(coloured.contains('\u{1b}'));
        let stripped: Vec<String> = coloured.lines().map(figure::format::plain).collect();
        // `plain` also folds white space, so compare word by word.
        let words =
            |lines: Vec<String>| lines.join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let expected = at(80, &record).lines().map(str::to_owned).collect();
        assert_eq!(words(stripped), words(expected));
    }
}

#[test]
fn a_cause_is_printed_once_with_its_figures_and_its_remedy() {
    let mut record = sample::quiet();
    for figure in &mut record.figures {
        let check = sample::check("array-size", Outcome::Fail, "too small", Some("--array-size 4GiB"));
        sample::rejudge(figure, vec![check]);
        assert_eq!(figure.verdict, Some(Verdict::Invalid));
    }
    let text = at(80, &record);
    assert_eq!(text.matches("--array-size 4GiB").count(), 1);
    assert!(text.contains("8 invalid: array-size (all 8 figures)"));
    assert!(text.contains("8 measured in 48.3 s: all invalid"));
    assert!(!text.contains('×'), "no ratio of invalid figures");
}

#[test]
fn the_way_to_more_is_printed() {
    let options = Options { saved_to: Some("out/record.json".into()), ..Options::new(80) };
    let text = text(&sample::full(), &options);
    assert!(text.contains("truebench explain array-size"), "the worst check that has a page");
    assert!(text.ends_with("out/record.json\n"));
}

#[test]
fn aspects_of_the_same_things_stand_in_one_table() {
    let record = sample::modes::tried();
    for width in [MIN_WIDTH, 60, 80, 200] {
        let text = at(width, &record);
        let heads = text.lines().filter(|line| line.trim_start().starts_with("allocator")).count();
        assert!(heads == 1 || width < 60, "{width}: {text}");
    }
}

#[test]
fn large_blocks_have_a_part_or_a_reason() {
    let none = at(80, &sample::watched::without_blocks());
    assert!(none.contains("server is linked statically"), "{none}");
    assert!(!at(80, &sample::watched::watched()).contains("Which large blocks"));
}

#[test]
fn calls_that_were_not_counted_have_a_reason() {
    let mut record = sample::watched::watched();
    record.figures.retain(|figure| !figure.id.starts_with("faults.call"));
    let planned = sample::planned("faults.calls", "calls", Unit::PER_S, Better::Lower);
    record.figures.push(planned.not_available("calls for memory: run truebench as root"));
    let text = at(80, &record);
    assert!(text.contains("not available: calls for memory: run truebench as root"), "{text}");
}
