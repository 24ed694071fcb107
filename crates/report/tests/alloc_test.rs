//! alloc-test's summary, read as its users read it: columns split at commas.

use crate::{refusal, sample, written};

/// The lines of numbers of an allocator.
fn rows(text: &str, name: &str) -> Vec<Vec<f64>> {
    let part =
        text.split("Short test summary for ").find(|part| part.starts_with(&format!("'{name}'"))).unwrap();
    let lines = part.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    lines.map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect()
}

#[test]
fn eleven_columns_for_each_number_of_threads() {
    let text = written("alloc-test", &sample::alloc::answer());
    assert!(text.contains("columns:\nthread,duration(ms),duration of void(ms),diff(ms),"), "{text}");
    let rows = rows(&text, "glibc");
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [1.0, 2.0], "processes are not upstream's");
    for row in rows {
        assert_eq!(row.len(), 11);
        // Setup, main loop and exit; slots of 16 bytes; pages of 4096.
        assert_eq!(row[1..8], [95.0, 95.0, 0.0, 900.0, 537.0, 900.0, 537.0]);
        assert_eq!(row[8..10], [910_000.0 + 640_000.0, 1_008_000.0 + 640_000.0]);
        assert!((row[10] - 900.0 * 4096.0 / 1_648_000.0).abs() < 1e-6);
    }
    assert!(text.contains("'jemalloc'") && !text.contains("'void'"), "{text}");
}

#[test]
fn without_a_void_one_it_is_refused() {
    let mut record = sample::alloc::answer();
    record.figures.retain(|figure| !figure.id.contains("void"));
    assert!(refusal("alloc-test", &record).contains("truebench alloc"));
}
