//! Values on the command line that are more than a number: choices, sizes, times, shares.

pub mod http;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use memory::kernels::ELEMENT;
use parse_size::Config;

/// One of these words: help, errors and completions list them.
pub fn choice<W: Into<String>, T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (W, T)>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<(String, T)> = choices.into_iter().map(|(word, value)| (word.into(), value)).collect();
    let words: Vec<String> = choices.iter().map(|(word, _)| word.clone()).collect();
    PossibleValuesParser::new(words).try_map(move |word| {
        let chosen = choices.iter().find(|(known, _)| *known == word);
        chosen.map(|(_, value)| value.clone()).ok_or("not one of the choices")
    })
}

/// A value of any form that a function reads; help and completions list the usual ones.
#[derive(Clone, Debug)]
pub struct Suggested<T> {
    usual: Vec<String>,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> Suggested<T> {
    /// The usual values, and the function that reads all.
    pub fn new<W: Into<String>>(
        usual: impl IntoIterator<Item = W>,
        parse: fn(&str) -> Result<T, String>,
    ) -> Self {
        Suggested { usual: usual.into_iter().map(Into::into).collect(), parse }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Suggested<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.usual.iter().cloned().map(PossibleValue::new)))
    }
}

/// An array size in elements: `10M` and `80_000_000` are elements, as STREAM counts; `80MB` and `512MiB` are
/// bytes.
///
/// # Errors
/// A sentence with examples.
pub fn array_size(text: &str) -> Result<u64, String> {
    let error = || format!("'{text}' is no size: write elements (10M, 80000000) or bytes (80MB, 512MiB)");
    let bytes = text.trim_end().ends_with(['b', 'B']);
    let number = Config::new().parse_size(text).map_err(|_| error())?;
    Ok(if bytes { number / ELEMENT } else { number })
}

/// A range of sizes in bytes: `16K..4G`, both in it; K, M and G are binary here, as in Intel MLC and lmbench.
///
/// # Errors
/// A sentence with examples.
pub fn sizes(text: &str) -> Result<(u64, u64), String> {
    let size = |part: &str| Config::new().with_binary().parse_size(part).ok().filter(|size| *size > 0);
    let range = text.split_once("..").and_then(|(from, to)| Some((size(from)?, size(to)?)));
    match range {
        Some((from, to)) if from <= to => Ok((from, to)),
        Some(_) => Err(format!("'{text}' ends before it begins: write the smaller size first")),
        None => Err(format!("'{text}' is no range of sizes: write 16K..4G")),
    }
}

/// Seconds: nothing here runs longer than ten years. Much larger numbers overflow where a time is added to
/// another.
const LONGEST: f64 = 10.0 * 366.0 * 24.0 * 3600.0;

/// A time: `30s`, `2min`, `1m 30s`, `500ms`; a bare number is seconds.
///
/// # Errors
/// A sentence with examples, or that it is too long.
pub fn seconds(text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok();
    let time = bare.or_else(|| humantime::parse_duration(text).ok().map(|time| time.as_secs_f64()));
    match time {
        Some(time) if time > LONGEST => {
            Err(format!("'{text}' is more than ten years: write 30s, 2min or 500ms"))
        }
        // What rounds to no nanosecond is no time either.
        Some(time) if Duration::try_from_secs_f64(time).is_ok_and(|time| !time.is_zero()) => Ok(time),
        _ => Err(format!("'{text}' is no time above zero: write 30s, 2min or 500ms")),
    }
}

/// A number of bytes: `200MB`, `64KiB`, or a bare number.
///
/// # Errors
/// A sentence with examples.
pub fn bytes(text: &str) -> Result<f64, String> {
    match Config::new().parse_size(text) {
        Ok(bytes) if bytes > 0 => Ok(bytes as f64),
        _ => Err(format!("'{text}' is no size above zero: write 200MB, 64KiB or 1024")),
    }
}

/// From how many bytes on a block is large: a page at least.
///
/// # Errors
/// A sentence with examples.
pub fn block(text: &str) -> Result<f64, String> {
    bytes(text).ok().filter(|bytes| *bytes >= LEAST_BLOCK).ok_or_else(|| {
        format!("'{text}' is no size of a block of 4096 bytes and more: write 64KiB, 1MiB or 8192")
    })
}

/// Bytes below which a block has no page of its own.
const LEAST_BLOCK: f64 = 4096.0;

/// A size of caches: `33M`; K, M and G are binary here, as lscpu prints them.
///
/// # Errors
/// A sentence with examples.
pub fn cache(text: &str) -> Result<f64, String> {
    match Config::new().with_binary().parse_size(text) {
        Ok(bytes) if bytes > 0 => Ok(bytes as f64),
        _ => Err(format!("'{text}' is no size above zero: write 33M or 512K")),
    }
}

/// How many there are of something.
///
/// # Errors
/// A sentence with examples.
pub fn count(text: &str) -> Result<f64, String> {
    match text.parse::<u32>() {
        Ok(count) if count > 0 => Ok(f64::from(count)),
        _ => Err(format!("'{text}' is no number above zero: write 48")),
    }
}

/// A directory that exists.
///
/// # Errors
/// There is none of that name.
pub fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".to_owned()) }
}

/// A share: `2%` or `0.02`.
///
/// # Errors
/// A sentence with examples.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value / unit < 1.0 => Ok(value / unit),
        _ => Err(format!("'{text}' is no share above 0 and below 100 %: write 2% or 0.02")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        assert_eq!(array_size("10M"), Ok(10_000_000));
        assert_eq!(array_size("80MB"), Ok(10_000_000));
        assert_eq!(array_size("1MiB"), Ok(131_072));
        assert_eq!(array_size("1"), Ok(1));
        assert!(array_size("x").is_err() && array_size("-1").is_err() && array_size("").is_err());
        assert!(array_size("99999999999999999999999").is_err());
    }

    #[test]
    fn times_and_shares() {
        assert_eq!(seconds("30s"), Ok(30.0));
        assert_eq!(seconds("1m 30s"), Ok(90.0));
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert!(["0", "-3", "soon", "nan", "1e400"].iter().all(|text| seconds(text).is_err()));
        assert_eq!(seconds("10years"), Ok(10.0 * 365.25 * 86400.0));
        for long in ["18446744073709551615s", "18446744073709551615", "1e15", "11years", "316224001"] {
            assert!(seconds(long).is_err_and(|why| why.contains("more than ten years")), "{long}");
        }
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share("0.02"), Ok(0.02));
        assert!(["0", "100%", "-1%", "nan", "x"].iter().all(|text| share(text).is_err()));
    }
}
