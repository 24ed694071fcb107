//! How long a check takes as nodes grow: draws so many nodes from a record into a directory, then reads and judges them.
//!
//!     cargo run --release -p truebench-fleet --example scale -- RECORD.json DIR 100 1000 10000

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use figure::Record;
use fleet::simulate::{Plan, Simulator};
use fleet::table::Parsed;
use fleet::{Answer, Gathering, Rules, Unused, check, parse};

/// Files that are read before the first of them is added.
const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [record, directory, counts @ ..] = arguments.as_slice() else {
        return Err("usage: scale RECORD.json DIR NODES…".into());
    };
    let record = Record::read(&fs::read(record)?)?;
    println!("nodes  figures  bytes  read (s)  judged (s)  slow  largest resident set");
    for count in counts {
        let nodes = count.parse()?;
        let plan = Plan {
            nodes,
            noise: 0.01,
            defects: 0.01,
            deficit: 0.05,
            disturbed: 0.0,
            skew: false,
            variants: false,
            bad: 0.0,
            seed: 1,
        };
        let simulator = Simulator::new(std::slice::from_ref(&record), plan)?;
        let below = Path::new(directory).join(count);
        fs::create_dir_all(&below)?;
        let files: Vec<PathBuf> = (0..nodes).map(|at| below.join(format!("{at}.json"))).collect();
        let mut bytes = 0;
        for (at, file) in files.iter().enumerate() {
            let text = serde_json::to_vec(&simulator.node(at).0)?;
            bytes += text.len();
            fs::write(file, text)?;
        }
        judge(&files, simulator.figures(), bytes)?;
    }
    Ok(())
}

fn parsed(texts: &[Vec<u8>]) -> Vec<Result<Parsed<'_>, Unused>> {
    texts.iter().map(|text| parse("node", text, None)).collect()
}

fn judge(files: &[PathBuf], figures: usize, bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    let began = Instant::now();
    let mut gathering = Gathering::default();
    let threads = std::thread::available_parallelism()?.get();
    for batch in files.chunks(BATCH) {
        let share = batch.len().div_ceil(threads);
        let texts = std::thread::scope(|scope| {
            let read = |files: &[PathBuf]| files.iter().map(fs::read).collect::<Result<Vec<_>, _>>();
            let running: Vec<_> = batch.chunks(share).map(|part| scope.spawn(move || read(part))).collect();
            let parts = running.into_iter().map(|thread| thread.join().expect("reading does not panic"));
            parts.collect::<Result<Vec<_>, _>>()
        })?;
        let gathered = std::thread::scope(|scope| {
            let running: Vec<_> = texts.iter().map(|part| scope.spawn(move || parsed(part))).collect();
            let parts = running.into_iter().flat_map(|thread| thread.join().expect("parsing does not panic"));
            parts.collect::<Vec<_>>()
        });
        for one in gathered {
            gathering.add(one.map_err(|unused| unused.why)?);
        }
    }
    let read = began.elapsed().as_secs_f64();
    let result = check(gathering.finish(), &Rules::default(), None);
    let judged = began.elapsed().as_secs_f64() - read;
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let (nodes, slow) = (result.nodes.len(), result.count(Answer::Slow));
    println!("{nodes}  {figures}  {bytes}  {read:.2}  {judged:.2}  {slow}  {peak}");
    Ok(())
}
