//! The tests of this crate in one program, which is linked once.

use std::io;

use figure::Record;
use report::Options;

mod alloc_test;
mod causes;
mod compare;
mod compare_html;
mod compare_records;
mod compare_study;
mod exports;
mod formats;
mod host;
mod html;
mod openmetrics;
mod pages;
mod sample;
mod svg;
mod text;
mod unixbench;

/// What a format writes of a record.
fn write(format: &str, record: &Record, options: &Options) -> io::Result<String> {
    let mut out = Vec::new();
    (report::format(format).unwrap().write)(record, options, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// The same of a record that holds what the format shows, in 80 columns.
fn written(format: &str, record: &Record) -> String {
    write(format, record, &Options::default()).unwrap()
}

/// Why a format does not write a record; nothing is written then.
fn refusal(format: &str, record: &Record) -> String {
    let mut out = Vec::new();
    let error = (report::format(format).unwrap().write)(record, &Options::default(), &mut out).unwrap_err();
    assert_eq!((error.kind(), out.len()), (io::ErrorKind::Unsupported, 0), "{format}");
    error.to_string()
}
