//! 7-Zip's benchmark (`7z b`), 9 to 24: ratings of LZMA by the size of the dictionary, and their means.

use figure::evidence::THREADS;
use figure::evidence::audit::UNJUDGED;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format = Format::lines(
    "7-Zip",
    &["# Benchmark threads:", "# CPU hardware threads:", "Avr:", "Speed Usage    R/U Rating"],
    starts,
    None,
    parse,
);

/// The columns of a side that have a mean: usage in %, rating of one CPU, rating, in MIPS.
type Side = [Printed; 3];

/// Lines from the head to the means.
const RUN_LINES: usize = 80;
/// By what share a rating may miss usage times the rating of one CPU: all three are rounded, and the means are of rounded numbers.
const APART: f64 = 0.02;

/// The last three numbers of both sides: `25:  8151   198   4694   9307  |   93742   200   4176   8344`.
fn sides(line: &str) -> Option<(Side, Side)> {
    let side = |text: &str| {
        let all: Option<Vec<Printed>> = text.split_whitespace().take(6).map(Printed::of).collect();
        let all = all?;
        all.len().checked_sub(3).and_then(|from| all[from..].try_into().ok())
    };
    let (_, rest) = line.split_once(':')?;
    let (left, right) = rest.split_once('|')?;
    Some((side(left)?, side(right.trim_end_matches(['|', ' ']))?))
}

fn is_row(line: &str) -> bool {
    let size = line.split_once(':').and_then(|(size, _)| number(size.trim()));
    size.is_some_and(|size| (10.0..=40.0).contains(&size)) && sides(line).is_some()
}

fn is_mean(line: &str) -> bool {
    line.starts_with("Avr:") && sides(line).is_some()
}

fn is_head(line: &str) -> bool {
    line.starts_with("RAM size:") && line.contains("# CPU hardware threads:")
}

fn is_usage(line: &str) -> bool {
    line.starts_with("RAM usage:") && line.contains("# Benchmark threads:")
}

const KINDS: &[fn(&str) -> bool] = &[is_head, is_usage, is_row, is_mean];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let Some(own) = KINDS.iter().position(|is| is(line)) else { return false };
    let is_followed = || rest.iter().take(RUN_LINES).any(|line| is_mean(line));
    let nearest = before.iter().rev().take(RUN_LINES).find_map(|line| {
        (line.starts_with("Tot:")).then_some(KINDS.len()).or_else(|| KINDS.iter().position(|is| is(line)))
    });
    nearest.is_none_or(|other| other > own || other == own && own != 2) && is_followed()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mean = run.lines.iter().find(|line| is_mean(line)).and_then(|line| sides(line));
    let (pack, unpack) = mean.ok_or("has no line of the means (\"Avr:\")")?;
    let rows: Vec<(Side, Side)> = run
        .lines
        .iter()
        .take_while(|line| !is_mean(line))
        .filter(|line| is_row(line))
        .filter_map(|line| sides(line))
        .collect();
    let threads = run.within("# Benchmark threads:");
    let total = run.after("Tot:").and_then(|rest| Printed::of(first(rest.split_whitespace().nth(2)?)?));
    let total = total.filter(|total| total.value > 0.0);
    // It prints not on which CPUs it ran: scripts run it on one after the other. So runs are no repetitions.
    let earlier = run.before.iter().filter(|line| line.starts_with("Avr:")).count();
    let subject = if earlier > 0 { format!("run {}", earlier + 1) } else { String::new() };
    let figure = |part: &str, name: &str, value: Printed, contradiction: Option<String>| {
        let name = format!("rating of {name} by 7-Zip");
        let quantity = Quantity {
            subject: subject.clone(),
            threads,
            contradiction,
            ..Quantity::of("7-zip", part.to_owned(), name, value, Unit::of("MIPS"), Better::Higher)
        };
        quantity.figure(known)
    };
    let of = |all: &[Side]| all.iter().map(|side| side[2].value).sum::<f64>() / all.len().max(1) as f64;
    // The head is of a run of which all rows are there.
    let is_whole = run.lines.first().is_some_and(|line| is_head(line) || is_usage(line)) && !rows.is_empty();
    let against = |side: &Side, all: Vec<Side>| {
        let [usage, each, rating] = *side;
        let product = usage.value * each.value / 100.0;
        let off = product * (usage.share() + each.share() + APART) + rating.off;
        let mean = of(&all);
        if (product - rating.value).abs() > off {
            Some(format!(
                "{} % of {} MIPS are {product:.0}, and {} are printed",
                usage.value, each.value, rating.value
            ))
        } else if is_whole && (mean - rating.value).abs() > 1.0 + rating.off {
            Some(format!("the mean of the rows is {mean:.0} MIPS, and {} is printed", rating.value))
        } else {
            threads
                .filter(|threads| usage.value - usage.off > 100.0 * threads * (1.0 + APART))
                .map(|threads| format!("{} % of a CPU by {threads} threads", usage.value))
        }
    };
    let (packs, unpacks) = rows.iter().copied().unzip();
    let mut figures = vec![
        figure("compressing", "compressing", pack[2], against(&pack, packs)),
        figure("decompressing", "decompressing", unpack[2], against(&unpack, unpacks)),
    ];
    if let Some(total) = total {
        let half = (pack[2].value + unpack[2].value) / 2.0;
        let against = ((half - total.value).abs() > 1.0 + total.off)
            .then(|| format!("the mean of both is {half:.0} MIPS, and {} is printed", total.value));
        figures.push(figure("total", "both", total, against));
    }
    if let Some(first) = figures.first_mut().filter(|_| !rows.is_empty()) {
        first.evidence.put(UNJUDGED, "the rows of each size of the dictionary".to_owned());
    }
    if threads.is_none() {
        figures
            .iter_mut()
            .for_each(|figure| known.threads.into_iter().for_each(|own| figure.conditions.set(THREADS, own)));
    }
    Ok(figures)
}
