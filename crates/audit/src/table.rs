//! Tables of Markdown, org-mode and SQL clients, into which people put what a tool printed: the rows as the tool may have printed them.

use crate::wrapping::Lines;

/// The most lines of a text, and tables in it.
const MOST_LINES: usize = 4000;
const MOST_TABLES: usize = 12;
/// The most columns of a table that may be runs.
const MOST_RUNS: usize = 16;
/// The fewest dashes of a line that is a rule.
const DASHES: usize = 3;

/// The lines with tables replaced, where more of them is understood then than `own`; see [`crate::broken::rejoined`].
pub fn opened(
    lines: &[String],
    numbers: &[usize],
    own: Option<usize>,
    understood: impl Fn(&[String], &[usize]) -> Option<usize>,
) -> Option<Lines> {
    let (mut most, mut best) = (own, None::<Lines>);
    // From the last on, so that the places of the others stay.
    for table in tables(lines).into_iter().rev() {
        let (all, of) = match &best {
            Some((lines, numbers)) => (lines.as_slice(), numbers.as_slice()),
            None => (lines, numbers),
        };
        let mut found = None;
        for own in table.readings(numbers) {
            let replaced = (splice(all, &table.range, own.0), splice(of, &table.range, own.1));
            let measure = understood(&replaced.0, &replaced.1);
            if measure.is_some() && measure > most {
                (most, found) = (measure, Some(replaced));
            }
        }
        best = found.or(best);
    }
    best
}

/// A list with other items in place of a range.
fn splice<T: Clone>(all: &[T], range: &std::ops::Range<usize>, own: Vec<T>) -> Vec<T> {
    let (head, tail) = (&all[..range.start], &all[range.end..]);
    head.iter().cloned().chain(own).chain(tail.iter().cloned()).collect()
}

/// A table: its lines, whether a rule follows its first row, and of each row its line and its cells.
struct Table {
    range: std::ops::Range<usize>,
    has_head: bool,
    rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// What the tool may have printed: columns; a label and its values; or several runs, one in each column.
    fn readings(&self, numbers: &[usize]) -> Vec<Lines> {
        let of = |at: &usize| numbers.get(*at).copied().unwrap_or_default();
        let each = |row: fn(&[String]) -> String| -> Lines {
            self.rows.iter().map(|(at, cells)| (row(cells), of(at))).unzip()
        };
        let mut all = vec![each(|cells| cells.join("  ")), each(labelled)];
        let columns = self.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        if (3..=MOST_RUNS + 1).contains(&columns) {
            all.push((1..columns).flat_map(|column| self.run(column, columns, of)).unzip());
        }
        all
    }

    /// The run in a column: its name, and the labels with its values. A head without a first cell has one less.
    fn run(&self, column: usize, columns: usize, of: impl Fn(&usize) -> usize) -> Vec<(String, usize)> {
        let rows = self.rows.iter().enumerate().filter_map(|(nth, (at, cells))| {
            let cell = cells.get((column + cells.len()).checked_sub(columns)?)?;
            let is_head = nth == 0 && self.has_head && !cells.iter().skip(1).all(|cell| is_number(cell));
            let line = match is_head {
                true => format!("=== {cell} ==="),
                false if cells.len() == columns => labelled(&[cells[0].clone(), cell.clone()]),
                false => return None,
            };
            Some((line, of(at)))
        });
        rows.collect()
    }
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// A label and its values: `Requests/sec: 9481.20`.
fn labelled(cells: &[String]) -> String {
    match cells {
        [label, values @ ..] if !values.is_empty() => {
            let sign = if label.ends_with([':', '=']) { "" } else { ":" };
            format!("{label}{sign} {}", values.join("  "))
        }
        _ => cells.join("  "),
    }
}

/// A line between rows: `---|---:`, `+----+----+`, `---+---`.
fn is_rule(line: &str) -> bool {
    let has = |c: char| line.contains(c);
    line.chars().all(|c| "-:+|= ".contains(c))
        && (has('|') || has('+'))
        && line.matches('-').count() >= DASHES
}

/// The cells of a row, without marks of bold letters and code. Borders at the ends of lines were taken off before.
fn cells(line: &str) -> Vec<String> {
    let bare = |cell: &str| cell.trim().trim_matches(['*', '`']).trim().to_owned();
    line.trim().trim_matches('|').split('|').map(bare).collect()
}

/// Lines in a row that are rules, or have cells; at least one of them is a rule, and one is not.
fn tables(lines: &[String]) -> Vec<Table> {
    if lines.len() > MOST_LINES {
        return Vec::new();
    }
    let is_part = |at: usize| lines.get(at).is_some_and(|line| is_rule(line) || line.contains('|'));
    let (mut all, mut at) = (Vec::new(), 0);
    while at < lines.len() && all.len() < MOST_TABLES {
        let end = (at..lines.len()).find(|next| !is_part(*next)).unwrap_or(lines.len());
        let has_rule = lines[at..end].iter().any(|line| is_rule(line));
        let rows: Vec<(usize, Vec<String>)> =
            (at..end).filter(|row| !is_rule(&lines[*row])).map(|row| (row, cells(&lines[row]))).collect();
        if let Some((first, _)) = rows.first().filter(|_| has_rule) {
            let has_head = lines.get(first + 1).is_some_and(|line| is_rule(line));
            all.push(Table { range: at..end, has_head, rows });
        }
        at = end + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, mark: &'static str) -> Vec<String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let numbers: Vec<usize> = (1..=lines.len()).collect();
        let count =
            |lines: &[String], _: &[usize]| Some(lines.iter().filter(|line| line.contains(mark)).count());
        let own = count(&lines, &[]);
        opened(&lines, &numbers, own, count).map_or(Vec::new(), |(lines, of)| {
            assert_eq!(lines.len(), of.len());
            lines
        })
    }

    #[test]
    fn rows_are_columns_or_labels_or_runs() {
        let table = "Numa node | 0 | 1\n---|---|---\n0 | 81.2 | 139.5\n1 | 140.1 | 82.0";
        let columns = ["Numa node  0  1", "0  81.2  139.5", "1  140.1  82.0"];
        assert_eq!(read(table, "0  81.2  139.5"), columns);
        let sql = "+-----+\n|Copy | 1 | 2|\n+-----+";
        assert_eq!(read(sql, "Copy  1  2"), ["Copy  1  2"]);
        let labels = "x\nMetric | Value\n:--|--:\n**Requests/sec** | `9481.20`\nMinor faults: | 12\ny";
        assert_eq!(
            read(labels, "sec: 9481"),
            ["x", "Metric: Value", "Requests/sec: 9481.20", "Minor faults: 12", "y"]
        );
        // The first cell of the head may be empty, and is then lost.
        for head in ["Metric | before | after", "before | after"] {
            let runs = format!("{head}\n---|---|---\nRequests/sec | 1.5 | 2.5\nTotal | 3 | 4");
            let wanted = [
                "=== before ===",
                "Requests/sec: 1.5",
                "Total: 3",
                "=== after ===",
                "Requests/sec: 2.5",
                "Total: 4",
            ];
            assert_eq!(read(&runs, "sec: 2.5"), wanted, "{head}");
        }
    }

    #[test]
    fn each_table_is_read_in_its_own_way() {
        let text = "a | 1\n---|---\nb | 2\n\nname | 3 | 4\n---|---|---\nc | 5 | 6";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let count = |lines: &[String], _: &[usize]| {
            Some(lines.iter().filter(|line| *line == "a: 1" || *line == "c  5  6").count())
        };
        let (lines, numbers) = opened(&lines, &[1, 2, 3, 4, 5, 6, 7], Some(0), count).unwrap();
        assert_eq!(lines, ["a: 1", "b: 2", "", "name  3  4", "c  5  6"]);
        assert_eq!(numbers, [1, 3, 4, 5, 7]);
    }

    #[test]
    fn what_is_no_table_stays() {
        for text in ["", "a | b\nc | d", "-----\na\n-----", "---|---", "x | 1\n---|---\ny | 2"] {
            assert_eq!(read(text, "nothing"), Vec::<String>::new(), "{text}");
        }
    }
}
