//! Formats for programs: each is read back by a reader of its own kind.

use crate::sample;

use std::io::ErrorKind;

use figure::evidence::*;
use figure::{Outcome, Record};
use report::{FORMATS, Options};

fn write(format: &str, record: &Record) -> std::io::Result<String> {
    let mut out = Vec::new();
    (report::format(format).unwrap().write)(record, &Options::default(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

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
    let records = [
        sample::empty(),
        sample::full(),
        sample::hostile(),
        sample::extreme(),
        sample::curve(),
        sample::modes::all(),
        sample::modes::unknown(),
        sample::modes::hostile(),
        sample::modes::extreme(),
    ];
    for (at, format) in FORMATS.iter().enumerate() {
        assert!(FORMATS[at + 1..].iter().all(|other| other.name != format.name));
        for record in &records {
            let mut out = Vec::new();
            match (format.write)(record, &Options::default(), &mut out) {
                Ok(()) => assert!(out.ends_with(b"\n"), "{}", format.name),
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
    record.figures.push(sample::scored(
        "pipe",
        "Pipe Throughput",
        1.0,
        "lps",
        [12440.0, 2_221_775.6, 1786.0],
    ));
    record.figures.push(sample::watched::stacks());
    for format in FORMATS {
        let error = (format.write)(&record, &Options::default(), &mut Full).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{}", format.name);
    }
}

#[test]
fn json_is_the_record() {
    for record in
        [sample::full(), sample::hostile(), sample::interrupted(), sample::extreme(), sample::curve()]
    {
        let back: Record = serde_json::from_str(&write("json", &record).unwrap()).unwrap();
        assert!(back == record, "differs after reading back");
    }
}

#[test]
fn csv_reads_back_line_by_line() {
    let record = sample::full();
    let text = write("csv", &record).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), record.figures.len());
    for (row, figure) in rows.iter().zip(&record.figures) {
        assert_eq!(&row[at("id")], figure.id);
        assert_eq!(row[at("value")].parse::<f64>().ok(), figure.value, "exact");
        let interval = figure.interval.as_ref();
        assert_eq!(row[at("interval_low")].parse::<f64>().ok(), interval.map(|i| i.low));
        assert_eq!(row[at("interval_high")].parse::<f64>().ok(), interval.map(|i| i.high));
        assert_eq!(row[at("best")].parse::<f64>().ok(), figure.best);
        assert_eq!(row[at("rounds")].parse::<usize>().unwrap(), figure.kept().count());
        assert_eq!(row[at("array_bytes")].parse::<f64>().ok(), figure.conditions.get(ARRAY_BYTES));
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
    let heads = |record| write("csv", &record).unwrap().lines().next().unwrap().to_owned();
    assert_eq!(heads(sample::empty()), heads(sample::full()));
    assert_eq!(heads(sample::curve()), heads(sample::hostile()));
}

#[test]
fn csv_fields_are_no_formulas() {
    let text = write("csv", &sample::hostile()).unwrap();
    for row in csv::Reader::from_reader(text.as_bytes()).records() {
        for field in row.unwrap().iter().filter(|field| field.parse::<f64>().is_err()) {
            assert!(!field.starts_with(['=', '+', '-', '@', '\t', '\r']), "{field}");
            assert!(!field.contains(char::is_control));
        }
    }
}

#[test]
fn csv_tells_where_on_a_curve() {
    let text = write("csv", &sample::curve()).unwrap();
    assert!(text.contains(",memory.ladder,array=1024 B,array,1024,B,,,,"));
    let text = write("csv", &sample::modes::numa(3)).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let row = reader.records().nth(1).unwrap().unwrap();
    let cells =
        ["series", "axis", "axis_value", "axis2", "axis2_value", "axis2_unit"].map(|name| &row[at(name)]);
    assert_eq!(cells, ["memory.numa.bandwidth", "cpu", "node 0", "memory", "node 1", ""]);
}

#[test]
fn stream_table_is_read_by_streams_parsers() {
    let record = sample::full();
    let text = write("stream", &record).unwrap();
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
    let text = write("stream", &record).unwrap();
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
    let text = write("stream", &record).unwrap();
    assert!(stream_row(&text, "Triad:")[0] < 1e5);
    assert!(stream_row(&text, "Copy:")[0] < 1e5);
}

#[test]
fn stream_validates_only_what_was_verified() {
    let with = |change: fn(&mut Evidence)| {
        let mut record = sample::quiet();
        let triad = record.figures.iter_mut().find(|figure| figure.id == "memory.triad.regular").unwrap();
        change(&mut triad.evidence);
        write("stream", &record).unwrap()
    };
    assert!(with(|_| ()).contains("Solution Validates"));
    let wrong = with(|evidence| evidence.put(VERIFIED, false));
    assert!(wrong.contains("Failed Validation: memory.triad.regular") && !wrong.contains("Validates"));
    let unknown = with(|evidence| evidence.put_unknown(VERIFIED, "the run was stopped"));
    assert!(unknown.contains("not checked: the run was stopped") && !unknown.contains("Validates"));
}

#[test]
fn stream_says_what_it_lacks() {
    let error = write("stream", &sample::empty()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("lacks copy, scale, add, triad"), "{error}");
    let mut record = sample::quiet();
    record.figures.iter_mut().for_each(|figure| figure.conditions = figure::Conditions::default());
    assert_eq!(write("stream", &record).unwrap_err().kind(), ErrorKind::Unsupported);
    let mut record = sample::quiet();
    record.figures[0].rounds.clear();
    let error = write("stream", &record).unwrap_err();
    assert!(error.to_string().contains("no samples of memory.copy.regular"), "{error}");
}

#[test]
fn markdown_of_the_full_record() {
    insta::assert_snapshot!(write("markdown", &sample::full()).unwrap());
}

#[test]
fn markdown_of_loads() {
    insta::assert_snapshot!(write("markdown", &sample::loads::study()).unwrap());
}

#[test]
fn markdown_of_the_modes() {
    insta::assert_snapshot!(write("markdown", &sample::modes::all()).unwrap());
}

#[test]
fn markdown_tables_hold_together_whatever_is_in_them() {
    for record in [sample::hostile(), sample::modes::hostile(), sample::modes::all()] {
        let text = write("markdown", &record).unwrap();
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
            let place = || sample::modes::number(f64::from(at), None);
            sample::modes::on(figure, "x.y", &[("one", place()), ("other", place())])
        })
        .collect();
    let text = write("markdown", &record).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 600 && rows.iter().all(|row| row.len() < 200), "{} rows", rows.len());
}

#[test]
fn markdown_tells_reasons_and_remedies() {
    let mut record = sample::quiet();
    let check = sample::check("steal", Outcome::Warn, "8 % stolen", Some("another host"));
    record.figures[0] = sample::judged(record.figures[0].clone(), vec![check]);
    let text = write("markdown", &record).unwrap();
    assert!(text.contains("| ! suspect: steal |"));
    assert!(text.contains("**steal**: 8 % stolen. Do: another host (memory.copy.regular)"));
}
