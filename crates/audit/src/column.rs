//! Columns of nothing but a time, or nothing but the number of the line, before all lines of a block: logs and pagers write them.
//!
//! Tools have such columns, too, of intervals and of parameters. A block is a log's only if a run begins within it behind the column, and if
//! times never fall, or numbers rise by one from line to line.

/// The fewest lines of a block.
const LEAST: usize = 4;
/// Times that fall by more than this start again: at noon or at midnight.
const HALF_DAY: f64 = 43_000.0;
/// The digits of seconds since 1970, and the least and most of a date.
const EPOCH_DIGITS: usize = 10;
const DATE_DIGITS: std::ops::RangeInclusive<usize> = 6..=8;
/// The most columns of a line, one behind the other.
const MOST: usize = 2;

/// Lines without such columns.
#[derive(Debug)]
pub struct Bare {
    /// All lines of the text.
    pub lines: Vec<String>,
    /// Which of them stood behind a column.
    pub is_behind: Vec<bool>,
}

/// The lines behind such columns; `None` where there is none.
pub fn without(lines: &[String], numbers: &[usize]) -> Option<Bare> {
    let has_column = |line: &&String| counted(line).is_some() || timed(line).is_some();
    // Most texts are not copied.
    if lines.iter().filter(has_column).take(LEAST).count() < LEAST {
        return None;
    }
    let mut bare = Bare { lines: lines.to_vec(), is_behind: vec![false; lines.len()] };
    for _ in 0..MOST {
        let counted = strip(
            &mut bare,
            |line, at| {
                let (count, end) = counted(line)?;
                // The number of the line, from another first one on.
                Some((count - numbers.get(at).copied()? as f64, end))
            },
            |last, own| last == own,
        );
        let timed = strip(&mut bare, |line, _| timed(line), |last, own| last <= own || last - own > HALF_DAY);
        if !counted && !timed {
            break;
        }
    }
    bare.is_behind.contains(&true).then_some(bare)
}

/// Takes columns off blocks of lines that all have them, where each follows the one before it; whether there were any.
fn strip(
    bare: &mut Bare,
    column: impl Fn(&str, usize) -> Option<(f64, usize)>,
    follows: impl Fn(f64, f64) -> bool,
) -> bool {
    let (mut block, mut last): (Vec<(usize, usize)>, Option<f64>) = (Vec::new(), None);
    let mut blocks = Vec::new();
    for (at, line) in bare.lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let own = column(line, at);
        if !own.zip(last).is_some_and(|((own, _), last)| follows(last, own)) {
            blocks.push(std::mem::take(&mut block));
        }
        last = own.map(|(own, _)| own);
        block.extend(own.map(|(_, end)| (at, end)));
    }
    blocks.push(block);
    let mut has = false;
    for (at, end) in blocks.into_iter().filter(|block| block.len() >= LEAST).flatten() {
        has = true;
        bare.is_behind[at] = true;
        bare.lines[at] = bare.lines[at].get(end..).unwrap_or_default().to_owned();
    }
    has
}

/// The number that a line begins with, and where what it numbers begins: `  17  `, `17: `, `17|`, `17.`, `17)`.
fn counted(line: &str) -> Option<(f64, usize)> {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let count: u32 = rest[..digits].parse().ok()?;
    let behind = &rest[digits..];
    // Spaces may stand before a bar.
    let bar = behind.trim_start_matches(' ').starts_with(['|', '│']);
    let sign = if bar { behind.trim_start_matches(' ') } else { behind };
    let mark = sign.chars().next().filter(|c| "|│:).".contains(*c));
    let sign = &sign[mark.map_or(0, char::len_utf8)..];
    let may_touch = matches!(mark, Some('|' | '│' | ':' | ')'));
    let ends = sign.is_empty()
        || sign.starts_with([' ', '\t'])
        || may_touch && !sign.starts_with(|c: char| c.is_ascii_digit());
    ends.then(|| (f64::from(count), line.len() - sign.strip_prefix([' ', '\t']).unwrap_or(sign).len()))
}

/// The time that a line begins with, in seconds, and where the line itself begins: `12:01:02 `, `[12:01:02] `, `10:45:02 AM `,
/// `23.05.2024 10:45:02 `, `12.345 `, `1716461102 `.
fn timed(line: &str) -> Option<(f64, usize)> {
    let text = line.trim_start();
    let inner = text.strip_prefix(['[', '(', '+']).unwrap_or(text);
    let is_open = text.starts_with(['[', '(']);
    let (day, rest) = match date(inner) {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    let (time, rest) = clock(rest).or_else(|| seconds(rest).filter(|_| !day))?;
    let rest = if is_open { rest.trim_start().strip_prefix([']', ')'])? } else { rest };
    let rest = rest.strip_prefix([':', '|']).unwrap_or(rest);
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    ends.then(|| (time, line.len() - rest.strip_prefix([' ', '\t']).unwrap_or(rest).len()))
}

/// What follows a date in digits, with a space or a `T` behind it.
fn date(text: &str) -> Option<&str> {
    let end = text.find([' ', 'T'])?;
    let (date, rest) = text.split_at(end);
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    let is_own = date.bytes().all(|byte| byte.is_ascii_digit() || b"-./".contains(&byte));
    (is_own && DATE_DIGITS.contains(&digits)).then(|| &rest[1..])
}

/// A time of the day or since a start, `12:01:02.345 AM`, in seconds, and what follows it.
fn clock(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !":.,".contains(c)).unwrap_or(text.len());
    let (time, rest) = text.split_at(end);
    let trimmed = time.trim_end_matches([':', '.', ',']);
    let rest = if trimmed.len() < time.len() { &text[trimmed.len()..] } else { rest };
    let parts: Vec<&str> = trimmed.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let is_short = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = seconds.split_at(seconds.find(['.', ',']).unwrap_or(seconds.len()));
    if !(1..=3).contains(&hours.len()) || !is_short(minutes) || !is_short(whole) {
        return None;
    }
    let fraction: f64 = format!("0.{}", fraction.trim_start_matches(['.', ','])).parse().ok()?;
    let of = |part: &str| part.parse::<f64>().ok();
    let value = of(hours)? * 3600.0 + of(minutes)? * 60.0 + of(whole)? + fraction;
    let rest = [" AM", " PM", "Z"].iter().find_map(|half| rest.strip_prefix(half)).unwrap_or(rest);
    Some((value, rest))
}

/// Seconds with a fraction, or since 1970, and what follows them.
fn seconds(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let has_fraction =
        digits.split_once('.').is_some_and(|(whole, fraction)| !whole.is_empty() && !fraction.is_empty());
    let value: f64 = digits.parse().ok()?;
    (has_fraction || digits.len() == EPOCH_DIGITS).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 8] = [
        "Running 10s test",
        "  2 threads",
        "",
        "  Latency 635us",
        "12 requests in 10s",
        "1.5 GB read",
        "Socket: 1",
        "17",
    ];

    /// What stands before a line, by its number.
    type Column = fn(usize) -> String;

    fn stripped(column: impl Fn(usize) -> String) -> Option<Vec<String>> {
        let lines: Vec<String> = LINES
            .iter()
            .enumerate()
            .map(|(at, line)| format!("{}{line}", column(at)).trim_end().to_owned())
            .collect();
        let numbers: Vec<usize> = (1..=lines.len()).collect();
        Some(without(&lines, &numbers)?.lines.iter().map(|line| line.trim().to_owned()).collect())
    }

    #[test]
    fn times_and_numbers_of_lines_are_taken_off() {
        let wanted = Some(LINES.map(|line| line.trim().to_owned()).to_vec());
        let columns: [(&str, Column); 16] = [
            ("time", |at| format!("12:01:{:02} ", at / 3)),
            ("in brackets", |at| format!("[12:01:{at:02}] ")),
            ("with a fraction", |at| format!("12:01:02.{:03} ", at * 7)),
            ("of the morning", |at| format!("9:01:{at:02} AM ")),
            ("at midnight", |at| format!("{:02}:59:59 ", (at + 18) % 24)),
            ("with a date", |at| format!("23.05.2024 10:45:{at:02} ")),
            ("with another", |at| format!("20240523 10:45:{at:02} ")),
            ("since the start", |at| format!("+0:00:{at:02} ")),
            ("seconds", |at| format!("{:.3} ", 12.0 + at as f64 * 0.013)),
            ("since 1970", |at| format!("[{}] ", 1_716_461_102 + at / 2)),
            ("numbers", |at| format!("{:4}  ", at + 17)),
            ("with a colon", |at| format!("{}: ", at + 1)),
            ("with a bar", |at| format!("{:3} | ", at + 98)),
            ("with a tab", |at| format!("{:6}\t", at + 1)),
            ("with zeros", |at| format!("{:04} ", at + 1)),
            ("both", |at| format!("{}: 12:01:{at:02} ", at + 1)),
        ];
        for (name, column) in columns {
            assert_eq!(stripped(column), wanted, "{name}");
        }
    }

    #[test]
    fn other_columns_stay() {
        // Numbers that leave some out, times that fall, versions, addresses, ranges.
        let others: [Column; 7] = [
            |_| String::new(),
            |at| format!("{} ", 2 * at),
            |at| format!("12:01:{:02} ", 59 - at),
            |_| "1.2.3 ".to_owned(),
            |at| format!("10.0.0.{at} "),
            |at| format!("{}-{} ", at, at + 1),
            |at| format!("{:.1}% ", at as f64),
        ];
        for column in others {
            assert_eq!(stripped(column), None, "{}", column(1));
        }
        let few: Vec<String> = (1..4).map(|at| format!("{at} x")).collect();
        assert!(without(&few, &[1, 2, 3]).is_none());
    }

    #[test]
    fn prose_around_a_block_stays() {
        let lines: Vec<String> = std::iter::once("Here it is".to_owned())
            .chain((1..8).map(|at| format!("{at}: line {at}")))
            .chain(["and 8 more".to_owned()])
            .collect();
        let numbers: Vec<usize> = (1..=lines.len()).collect();
        let bare = without(&lines, &numbers).unwrap();
        assert_eq!(
            (bare.lines[0].as_str(), bare.lines[1].as_str(), bare.lines[8].as_str()),
            ("Here it is", "line 1", "and 8 more")
        );
        assert_eq!(bare.is_behind.iter().filter(|behind| **behind).count(), 7);
    }
}
