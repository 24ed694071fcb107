//! One row for each node and figure, for DuckDB, polars and pandas. A later version may append columns, but never renames, reorders or
//! removes one.

use std::io::{self, BufWriter, Write};

use figure::format::exact;
use fleet::Check;
use fleet::table::State;
use serde::Serialize;

/// A row.
#[derive(Debug, Serialize)]
struct Row<'a> {
    node: &'a str,
    group: &'a str,
    answer: String,
    started: &'a str,
    figure: &'a str,
    unit: &'a str,
    better: figure::Better,
    state: &'static str,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    rounds: u32,
    /// By how much it is better (above 0) or worse than the centre, as a share.
    deviation: Option<f64>,
    reason: &'a str,
}

fn rows(check: &Check) -> impl Iterator<Item = Row<'_>> {
    let table = &check.table;
    let of = move |at: usize, column: usize| {
        let (node, head, cell) = (&check.nodes[at], &table.columns[column], table.cell(at, column));
        let known = |value: f64| Some(value).filter(|value| value.is_finite());
        Row {
            node: &node.name,
            group: &node.group,
            answer: node.answer.to_string(),
            started: &table.rows[at].started,
            figure: &head.id,
            unit: &head.unit,
            better: head.better,
            state: word(cell.state),
            value: known(cell.value),
            low: known(cell.low),
            high: known(cell.high),
            rounds: cell.rounds,
            deviation: known(f64::from(check.deviation(at, column)).exp_m1()),
            reason: table.reason(cell),
        }
    };
    (0..check.nodes.len()).flat_map(move |at| (0..table.columns.len()).map(move |column| of(at, column)))
}

fn word(state: State) -> &'static str {
    match state {
        State::Missing => "missing",
        State::Usable => "usable",
        State::Disturbed => "disturbed",
        State::Doubtful => "doubtful",
        State::OtherParameters => "other parameters",
    }
}

/// As CSV, with a head.
///
/// # Errors
/// What the writer answers.
pub fn csv(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    const HEAD: [&str; 14] = [
        "node",
        "group",
        "answer",
        "started",
        "figure",
        "unit",
        "better",
        "state",
        "value",
        "low",
        "high",
        "rounds",
        "deviation",
        "reason",
    ];
    let mut table = ::csv::Writer::from_writer(out);
    table.write_record(HEAD)?;
    let number = |value: Option<f64>| value.map(exact).unwrap_or_default();
    for row in rows(check) {
        let better = crate::names::serialised(&row.better);
        let [value, low, high, deviation] = [row.value, row.low, row.high, row.deviation].map(number);
        let rounds = row.rounds.to_string();
        let (answer, state) = (row.answer.as_str(), row.state);
        let fields = [
            row.node,
            row.group,
            answer,
            row.started,
            row.figure,
            row.unit,
            &better,
            state,
            &value,
            &low,
            &high,
            &rounds,
            &deviation,
            row.reason,
        ];
        table.write_record(fields)?;
    }
    table.flush()
}

/// As JSON, one object a line.
///
/// # Errors
/// What the writer answers.
pub fn json_lines(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    for row in rows(check) {
        serde_json::to_writer(&mut out, &row)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
