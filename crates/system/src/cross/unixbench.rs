//! Command lines and output format of UnixBench's programs, by `Run` and `WRITING_TESTS` of version 6.0.0.
//! Pure.

use std::path::{Path, PathBuf};

use lab::failure::Failure;

pub const NAME: &str = "UnixBench";
const PROGRAMS: &str = "pgms";
/// The input text of its scripts in UnixBench's directory.
const TEXT: &str = "testdir/sort.src";
/// The file name of the text in the working directory of the scripts.
pub const TEXT_NAME: &str = "sort.src";
/// The environment variable by which `execl` finds its own file.
pub const BINARIES: &str = "UB_BINDIR";

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

pub fn programs(unixbench: &Path) -> PathBuf {
    unixbench.join(PROGRAMS)
}

pub fn text(unixbench: &Path) -> PathBuf {
    unixbench.join(TEXT)
}

/// The command line of a test for `seconds`, with its files in `directory`. `None` if UnixBench has no such
/// test. Whetstone ignores the duration and takes about ten seconds.
pub fn call(unixbench: &Path, test: &str, seconds: u32, directory: &Path) -> Option<Call> {
    let programs = programs(unixbench);
    let seconds = seconds.to_string();
    let copy = |buffer: &str, blocks: &str| {
        let directory = directory.display().to_string();
        let words = ["-c", "-t", &seconds, "-d", &directory, "-b", buffer, "-m", blocks];
        ("fstime", words.map(str::to_owned).to_vec())
    };
    let scripts = |concurrent: &str| {
        let script = programs.join("multi.sh").display().to_string();
        ("looper", vec![seconds.clone(), script, concurrent.to_owned()])
    };
    let (program, arguments) = match test {
        "whetstone-double" => (test, Vec::new()),
        "fstime" => copy("1024", "2000"),
        "fsbuffer" => copy("256", "500"),
        "fsdisk" => copy("4096", "8000"),
        "shell1" => scripts("1"),
        "shell8" => scripts("8"),
        "dhry2reg" | "execl" | "pipe" | "context1" | "spawn" | "syscall" => (test, vec![seconds.clone()]),
        _ => return None,
    };
    Some(Call { program: programs.join(program), arguments })
}

/// Parses the result of a program, in the unit of its test, from its standard error. The last
/// `COUNT|value|timebase|label` counts, as in UnixBench. `elapsed` seconds replace a missing `TIME|seconds`.
pub fn read(errors: &str, elapsed: f64) -> Result<f64, Failure> {
    let (mut count, mut time) = (None, None);
    for line in errors.lines() {
        let mut fields = line.trim().split('|');
        match fields.next() {
            Some("COUNT") => {
                let mut number = || fields.next().and_then(|field| field.trim().parse::<f64>().ok());
                count = number().zip(number());
            }
            Some("TIME") => time = fields.next().and_then(|field| field.trim().parse::<f64>().ok()),
            _ => {}
        }
    }
    let seconds = time.unwrap_or(elapsed);
    let result = count.map(|(count, timebase)| match timebase {
        0.0 => count,
        timebase if seconds > 0.0 && timebase > 0.0 => count / (seconds / timebase),
        _ => 0.0,
    });
    match result {
        // JSON has no infinite numbers.
        Some(result) if result > 0.0 && result.is_finite() => Ok(result),
        Some(_) => Err(Failure::new("it counted nothing, or what is no number")),
        None => {
            Err(Failure::new("it gave no count; it printed")
                .answer(figure::format::plain_to(errors.trim(), 160)))
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn every_test_of_the_index_has_a_program() {
        for name in crate::catalogue::names() {
            let call = call(Path::new("/ub"), name, 2, Path::new("/tmp/x")).expect(name);
            assert!(call.program.starts_with("/ub/pgms"), "{call:?}");
        }
        let copy = call(Path::new("/ub"), "fsdisk", 30, Path::new("/tmp/x")).unwrap();
        assert_eq!(copy.arguments.join(" "), "-c -t 30 -d /tmp/x -b 4096 -m 8000");
        let scripts = call(Path::new("/ub"), "shell8", 60, Path::new("/tmp/x")).unwrap();
        assert_eq!(
            (scripts.program.as_path(), scripts.arguments.join(" ").as_str()),
            (Path::new("/ub/pgms/looper"), "60 /ub/pgms/multi.sh 8")
        );
        assert_eq!(call(Path::new("/ub"), "arithoh", 2, Path::new("/")), None);
    }

    #[test]
    fn output_is_parsed_as_in_unixbench() {
        assert_eq!(read("COUNT|3000|1|lps\n", 1.5), Ok(2000.0));
        assert_eq!(read("COUNT|120|60|lpm\n", 30.0), Ok(240.0));
        // Write, read and copy: the last one counts, and is a rate already.
        let copies = "COUNT|900|0|KBps\nTIME|2.0\nCOUNT|950|0|KBps\nTIME|2.0\nCOUNT|700|0|KBps\nTIME|30.0\n";
        assert_eq!(read(copies, 47.0), Ok(700.0));
        assert_eq!(read("COUNT|7208.854|0|MWIPS\nTIME|9.9\n", 11.0), Ok(7208.854));
        for invalid in
            ["0|1", "-1|-1", "inf|1", "inf|0", "nan|1", "5|nan", "5|inf", "5|-1", "1e308|1e18", "1e-320|1"]
        {
            let result = read(&format!("COUNT|{invalid}|x\n"), 1e9);
            assert!(result.is_err(), "{invalid}: {result:?}");
        }
        assert!(read("COUNT|5|1|x\nTIME|inf\n", 1.0).is_err());
        assert!(read("COUNT|5|1|x\nTIME|0\n", 1.0).is_err());
        assert!(read("sh: 1: looper: not found\n", 1.0).unwrap_err().to_string().contains("not found"));
    }
}
