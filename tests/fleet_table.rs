//! The table of nodes and figures, as its readers have it: the queries of docs/methods/fleet.md in DuckDB.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::{run, stderr};
use crate::fleet::node;
use crate::python;

/// The pages with the queries.
const PAGE: &str = "docs/methods/fleet.md";
/// What prints the rows of each query as JSON.
const SCRIPT: &str = "import duckdb, json, sys\nfor query in sys.argv[1:]:\n    print(json.dumps(duckdb.sql(query).fetchall()))\n";

/// The blocks of SQL in a page, as they stand there.
fn queries() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = fs::read_to_string(path).unwrap();
    let blocks = page.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim_end().to_owned()).collect()
}

/// A table of 48 nodes in six racks. Nodes whose names begin with one of `others` are so many times as good.
fn table(directory: &Path, name: &str, others: &[(&str, f64)]) {
    let records = tempfile::tempdir().unwrap();
    for number in 0..48 {
        let name = format!("rack{}n{:02}", 1 + number / 8, 1 + number % 8);
        let times = others.iter().find(|(other, _)| name.starts_with(other)).map_or(1.0, |(_, times)| *times);
        let mut record = node(number, times);
        record.machine.hostname = figure::Reading::Value(name.clone());
        fs::write(records.path().join(name + ".json"), serde_json::to_vec(&record).unwrap()).unwrap();
    }
    let table = directory.join(name);
    let output = run(&[
        "fleet",
        "check",
        records.path().to_str().unwrap(),
        "--table",
        table.to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", stderr(&output));
}

#[test]
fn the_queries_of_the_page_answer() {
    let queries = queries();
    assert_eq!(queries.len(), 3, "{PAGE}");
    let Some(python) = python::installed("python3") else { return };
    let directory = tempfile::tempdir().unwrap();
    // All of the second rack has become 4 % slower, and one node of the third 10 %.
    table(directory.path(), "before.csv.zst", &[]);
    table(directory.path(), "rows.csv.zst", &[("rack2", 0.96), ("rack3n05", 0.9)]);
    let mut command = Command::new(python);
    let output = command.args(["-c", SCRIPT]).args(&queries).current_dir(directory.path()).output().unwrap();
    if stderr(&output).contains("No module named 'duckdb'") {
        eprintln!("skipped: duckdb is not installed: make setup-fleet");
        return;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers: Vec<Vec<Vec<Value>>> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let [racks, nodes, changes] = answers.as_slice() else { panic!("{answers:?}") };
    let share = |value: &Value| value.as_f64().unwrap();
    // Rack, figure, nodes, median deviation.
    assert_eq!((racks[0][0].as_str(), racks[0][2].as_u64()), (Some("rack2"), Some(8)), "{racks:?}");
    assert!((share(&racks[0][3]) + 0.04).abs() < 0.01, "{racks:?}");
    // Node, answer, median, figure.
    assert_eq!((nodes[0][0].as_str(), nodes[0][1].as_str()), (Some("rack3n05"), Some("slow")), "{nodes:?}");
    // Node, figure, change.
    assert_eq!(changes[0][0].as_str(), Some("rack3n05"), "{changes:?}");
    assert!((share(&changes[0][2]) + 0.1).abs() < 0.01, "{changes:?}");
    assert!(changes.iter().skip(1).any(|row| row[0].as_str().unwrap().starts_with("rack2")), "{changes:?}");
}
