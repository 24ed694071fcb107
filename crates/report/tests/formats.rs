//! Formats for programs: each is read back by a reader of its own kind.

use std::io::ErrorKind;

use figure::evidence::*;
use figure::{Conditions, Outcome, Record};
use report::{FORMATS, Options};

use crate::{refusal, sample, written};

/// STREAM's table as an awk script reads it: the line with the label, then four numbers.
fn stream_row(text: &str, label: &str) -> [f64; 4] {
    let mut lines = text.lines().filter(|line| line.split_whitespace().next() == Some(label));
    let line = lines.next().unwrap();
    assert_eq!(lines.next(), None, "one line for {label}");
    let numbers: Vec<f64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

#[test]
fn every_format_has_a_name_of_its_own_and_bears_any_record() {
    for (at, format) in FORMATS.iter().enumerate() {
        assert!(FORMATS[at + 1..].iter().all(|other| other.name != format.name));
        for record in sample::all() {
            let mut out = Vec::new();
            match (format.write)(&record, &Options::default(), &mut out) {
                // Text, or gzip.
                Ok(()) => assert!(out.ends_with(b"\n") || out.starts_with(b"\x1f\x8b"), "{}", format.name),
                Err(error) => {
                    assert_eq!((error.kind(), out.len()), (ErrorKind::Unsupported, 0), "{}", format.name);
                }
            }
        }
    }
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut record = sample::full();
    record.figures.extend(sample::modes::mix().figures);
    record.figures.extend(sample::alloc::answer().figures);
    record.figures.extend(sample::tests().figures);
    record.figures.push(sample::watched::stacks());
    for format in FORMATS {
        let error = (format.write)(&record, &Options::default(), &mut Full).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{}", format.name);
    }
}

#[test]
fn json_is_the_record() {
    for record in sample::all() {
        let back: Record = serde_json::from_str(&written("json", &record)).unwrap();
        assert!(back == record, "differs after reading back");
    }
}

/// The rows of the CSV file, and where the column of a name is.
fn csv_rows(record: &Record) -> (Vec<csv::StringRecord>, impl Fn(&str) -> usize + use<>) {
    let text = written("csv", record);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let at = move |name: &str| heads.iter().position(|head| head == name).unwrap();
    (reader.records().collect::<Result<_, _>>().unwrap(), at)
}

#[test]
fn csv_reads_back_line_by_line() {
    let record = sample::full();
    let (rows, at) = csv_rows(&record);
    assert_eq!(rows.len(), record.figures.len());
    for (row, figure) in rows.iter().zip(&record.figures) {
        let number = |name: &str| row[at(name)].parse::<f64>().ok();
        let interval = figure.interval.as_ref();
        assert_eq!(&row[at("id")], figure.id);
        assert_eq!(number("value"), figure.value, "exact");
        assert_eq!(number("interval_low"), interval.map(|interval| interval.low));
        assert_eq!(number("interval_high"), interval.map(|interval| interval.high));
        assert_eq!(number("best"), figure.best);
        assert_eq!(number("rounds"), Some(figure.used_rounds().count() as f64));
        assert_eq!(number("array_bytes"), figure.conditions.get(ARRAY_BYTES));
        assert_eq!(row[at("verdict")], figure.verdict.map_or(String::new(), |v| v.to_string()));
    }
    let read = &rows[8];
    assert_eq!((&read[at("check")], &read[at("cpus")]), ("array-size", "0-1"));
    assert!(read[at("reason")].starts_with("each array (480 MiB) is 1.3 x"));
    let missing = rows.last().unwrap();
    assert_eq!((&missing[at("status")], &missing[at("value")]), ("not_available", ""));
    assert!(missing[at("reason")].starts_with("the kernel stores nothing"));
}

#[test]
fn csv_gives_every_record_the_same_columns() {
    let heads = |record: &Record| written("csv", record).lines().next().unwrap().to_owned();
    assert!(sample::all().iter().all(|record| heads(record) == heads(&sample::empty())));
}

#[test]
fn csv_fields_are_no_formulas() {
    for row in csv_rows(&sample::hostile()).0 {
        for field in row.iter().filter(|field| field.parse::<f64>().is_err()) {
            assert!(!field.starts_with(['=', '+', '-', '@', '\t', '\r']), "{field}");
            assert!(!field.contains(char::is_control));
        }
    }
}

#[test]
fn csv_has_the_place_on_a_curve() {
    let text = written("csv", &sample::curve());
    assert!(text.contains(",memory.ladder,array=1024 B,array,1024,B,,,,"));
    let (rows, at) = csv_rows(&sample::modes::numa(3));
    let names = ["series", "axis", "axis_value", "axis2", "axis2_value", "axis2_unit"];
    let cells = names.map(|name| &rows[1][at(name)]);
    assert_eq!(cells, ["memory.numa.bandwidth", "cpu", "node 0", "memory", "node 1", ""]);
}

#[test]
fn stream_table_is_read_by_streams_parsers() {
    let record = sample::full();
    let text = written("stream", &record);
    assert!(text.contains("based on a variant of the STREAM benchmark code"), "STREAM's licence, 3b");
    assert!(text.contains("Array size = 62914560 (elements)"));
    assert!(text.contains("Memory per array = 480.0 MiB"));
    assert!(text.contains("Number of Threads requested = 2\n"));
    assert!(text.contains("Function    Best Rate MB/s  Avg time     Min time     Max time\n"));
    for (label, id, bytes) in [
        ("Copy:", "memory.copy.regular", 16.0),
        ("Scale:", "memory.scale.regular", 16.0),
        ("Add:", "memory.add.regular", 24.0),
        ("Triad:", "memory.triad.regular", 24.0),
    ] {
        let [rate, average, least, greatest] = stream_row(&text, label);
        let best = record.figure(id).unwrap().best.unwrap();
        assert!((rate - best * 1000.0).abs() <= 0.05, "{label} {rate} {best}");
        assert!(least <= average && average <= greatest, "{label}");
        // STREAM's own identity: bytes / least time = best rate, within the six decimals of the time.
        let volume = bytes * 62_914_560.0 / 1e6;
        assert!((volume / least / rate - 1.0).abs() < 1e-4, "{label}");
    }
    let column = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap().len();
    assert!(["Copy:", "Scale:", "Add:", "Triad:"].iter().all(|label| column(label) == 62), "fixed columns");
    assert!(text.contains("Solution Validates"));
    assert!(text.contains("verdict memory.scale.regular suspect (steal, 4.1 %"));
}

#[test]
fn stream_takes_nt_stores_only_where_regular_ones_are_missing() {
    let mut record = sample::quiet();
    record.figures.retain(|figure| figure.id != "memory.add.regular");
    let text = written("stream", &record);
    assert!(text.contains("non-temporal stores"));
    let best = record.figure("memory.triad.nt").unwrap().best.unwrap();
    assert!((stream_row(&text, "Triad:")[0] - best * 1000.0).abs() <= 0.05);
}

#[test]
fn stream_ignores_controls_and_rounds_set_aside() {
    let mut record = sample::quiet();
    let mut doubled = sample::kernel("triad", "regular", 1e6, 6);
    doubled.conditions.set(ROLE, "doubled".into());
    record.figures.insert(0, doubled);
    let triad = record.figures.iter_mut().find(|figure| figure.id == "memory.copy.regular").unwrap();
    triad.rounds[1].samples = vec![1e6];
    sample::disturb(triad, "disturbed");
    let text = written("stream", &record);
    assert!(stream_row(&text, "Triad:")[0] < 1e5);
    assert!(stream_row(&text, "Copy:")[0] < 1e5);
}

#[test]
fn stream_validates_only_what_was_verified() {
    let with = |change: fn(&mut Evidence)| {
        let mut record = sample::quiet();
        let triad = record.figures.iter_mut().find(|figure| figure.id == "memory.triad.regular").unwrap();
        change(&mut triad.evidence);
        written("stream", &record)
    };
    assert!(with(|_| ()).contains("Solution Validates"));
    let wrong = with(|evidence| evidence.put(VERIFIED, false));
    assert!(wrong.contains("Failed Validation: memory.triad.regular") && !wrong.contains("Validates"));
    let unknown = with(|evidence| evidence.put_unknown(VERIFIED, "the run was stopped"));
    assert!(unknown.contains("not checked: the run was stopped") && !unknown.contains("Validates"));
}

#[test]
fn stream_says_what_it_lacks() {
    let error = refusal("stream", &sample::empty());
    assert!(error.contains("lacks copy, scale, add, triad"), "{error}");
    let mut record = sample::quiet();
    record.figures.iter_mut().for_each(|figure| figure.conditions = Conditions::default());
    refusal("stream", &record);
    let mut record = sample::quiet();
    record.figures[0].rounds.clear();
    let error = refusal("stream", &record);
    assert!(error.contains("no samples of memory.copy.regular"), "{error}");
}

#[test]
fn folded_stacks_are_counts() {
    let text = written("folded", &sample::watched::watched());
    assert_eq!(text, "server;main;handle;memset 30000\nserver;main;parse 10000\n");
}

#[test]
fn markdown() {
    for (name, record) in [
        ("markdown_of_the_full_record", sample::full()),
        ("markdown_of_loads", sample::loads::study()),
        ("markdown_of_the_modes", sample::modes::all()),
    ] {
        insta::assert_snapshot!(name, written("markdown", &record));
    }
}

#[test]
fn markdown_tables_hold_together_whatever_is_in_them() {
    for record in sample::all() {
        let text = written("markdown", &record);
        assert!(!text.contains('<') && !text.contains('@') && !text.contains('\u{1b}'));
        // Nor are there addresses, of which GitHub makes links by itself.
        assert!(!text.contains("://") && !text.contains("www."));
        let mut columns = None;
        for line in text.lines() {
            if line.starts_with('|') {
                let bars = line.replace("\\|", "").matches('|').count();
                assert_eq!(*columns.get_or_insert(bars), bars, "{line}");
            } else {
                columns = None;
            }
        }
    }
}

/// Points that lie apart in both directions would make a table of nothing but holes.
#[test]
fn markdown_of_a_matrix_with_holes_is_a_list() {
    let mut record = sample::empty();
    record.figures = (0..600)
        .map(|at| {
            let figure = sample::modes::point(&format!("x.y.{at}"), "y", figure::Unit::NANOSECONDS, 5.0);
            let place = || sample::number(f64::from(at), None);
            sample::on(figure, "x.y", &[("one", place()), ("other", place())])
        })
        .collect();
    let text = written("markdown", &record);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 600 && rows.iter().all(|row| row.len() < 200), "{} rows", rows.len());
}

#[test]
fn markdown_has_reasons_and_remedies() {
    let mut record = sample::quiet();
    let check = sample::check("steal", Outcome::Warn, "8 % stolen", Some("another host"));
    sample::rejudge(&mut record.figures[0], vec![check]);
    let text = written("markdown", &record);
    assert!(text.contains("| ! suspect: steal |"));
    assert!(
        text.contains("**1 suspect: steal (copy.regular)**\n  8 % stolen\n  Do: another host\n"),
        "{text}"
    );
}
