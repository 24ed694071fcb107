//! What text and Markdown say alike of a comparison.

use figure::format::{counted, number, percent, plain, plain_to};

use compare::{Abnormal, Cell, Compared, Comparison, Host, Pair, Ratio, Rule, Selection, Standing};

/// The longest name of a figure.
const MAX_NAME: usize = 60;
/// What is said where something was forced.
pub(crate) const FORCED: &str = "Forced (--force): figures that may not be compared are, each marked with 'forced'; their ratios do not mean what they say.";

/// A record in one line.
pub(crate) fn host(host: &Host) -> String {
    let mut text = plain_to(&host.name, 80);
    if let Some(hostname) = &host.hostname {
        text.push_str(&format!(" on {}", plain_to(hostname, 64)));
    }
    text.push_str(&format!(
        ": {}; {}, {}",
        host.machine,
        plain_to(&host.tool, 120),
        plain_to(&host.started, 40)
    ));
    if let Some(reason) = &host.interrupted {
        text.push_str(&format!("; not finished: {}", plain(reason)));
    }
    text
}

/// `B against A: 12 of 13 figures judged: 3 faster, 1 slower, 8 same, 1 not comparable; 2 figures only in A`.
pub(crate) fn summary(pair: &Pair) -> String {
    let counts = Standing::ALL.map(|standing| (pair.count(standing), standing.word()));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let counts = match counts.is_empty() {
        true => "no figure in common".to_owned(),
        false => {
            let all = counted(pair.figures.len(), "figure");
            format!("{} of {all} judged: {}", pair.judged, counts.join(", "))
        }
    };
    let alone = [(&pair.only_a, pair.a), (&pair.only_b, pair.b)];
    let alone = alone.iter().filter(|(ids, _)| !ids.is_empty());
    let alone: String =
        alone.map(|(ids, letter)| format!("; {} only in {letter}", counted(ids.len(), "figure"))).collect();
    let abnormal: Vec<String> = pair.abnormal.iter().map(|one| plain_to(&one.name, MAX_NAME)).collect();
    let abnormal =
        if abnormal.is_empty() { String::new() } else { format!("; out of line: {}", abnormal.join(", ")) };
    format!("{} against {}: {counts}{alone}{abnormal}", pair.b, pair.a)
}

/// A figure's name where it has at most `room` characters and no other of its suite has the same, else its id.
pub(crate) fn label(pair: &Pair, figure: &Compared, room: usize) -> String {
    let same = |other: &&Compared| other.suite == figure.suite && other.name == figure.name;
    if figure.name.chars().count() <= room && pair.figures.iter().filter(same).count() == 1 {
        return plain_to(&figure.name, MAX_NAME);
    }
    let short = figure.id.strip_prefix(figure.suite.as_str()).and_then(|rest| rest.strip_prefix('.'));
    plain_to(short.unwrap_or(&figure.id), MAX_NAME)
}

pub(crate) fn value(value: Option<f64>) -> String {
    value.map_or_else(|| "—".to_owned(), number)
}

/// A ratio with three decimals, as a band of 2 % asks for.
pub(crate) fn ratio(ratio: f64) -> String {
    if (0.01..1000.0).contains(&ratio) { format!("{ratio:.3}") } else { number(ratio) }
}

/// `[1.021, 1.043]`.
pub(crate) fn interval(of: &Ratio) -> Option<String> {
    Some(format!("[{}, {}]", ratio(of.low?), ratio(of.high?)))
}

/// The verdict, with what would be needed for one.
pub(crate) fn verdict(figure: &Compared) -> String {
    let mut text = figure.standing.word().to_owned();
    if figure.standing != figure.alone {
        text.push_str(&format!(" ({} alone)", figure.alone.word()));
    }
    if let Some(rounds) = figure.rounds_needed {
        text.push_str(&format!(" (about {rounds} rounds)"));
    }
    if figure.forced.is_some() {
        text.push_str(", forced");
    }
    text
}

/// One test that is out of line, with its cause; names go through `safe`.
pub(crate) fn abnormal(one: &Abnormal, safe: fn(&str) -> String) -> String {
    let rule = match one.rule {
        Rule::Decomposition => "by its parts",
        Rule::Placement => "by the same test with its tasks pinned",
        Rule::Residual => "by the other tests",
    };
    let mut text = format!(
        "{} ({}): {}x, where {rule} {}x was to be expected. Seen: {}. Cause: {}.",
        safe(&plain_to(&one.name, MAX_NAME)),
        safe(&plain_to(&one.id, MAX_NAME)),
        number(one.ratio),
        number(one.expected),
        safe(&one.seen),
        safe(&one.cause)
    );
    for (what, causes) in [("Ruled out", &one.ruled_out), ("Not recorded", &one.not_recorded)] {
        if !causes.is_empty() {
            text.push_str(&format!(" {what}: {}.", safe(&causes.join(", "))));
        }
    }
    text
}

/// Reasons why figures have no verdict, or one to be doubted, each with the figures that it is true of: with the ranges of their rounds, where that is
/// all that there is.
pub(crate) fn groups(pair: &Pair) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |why: String, name: String| match groups.iter_mut().find(|(known, _)| *known == why) {
        Some((_, names)) => names.push(name),
        None => groups.push((why, vec![name])),
    };
    for figure in &pair.figures {
        if let Some(why) = &figure.forced {
            add(format!("forced, {}", plain(why)), label(pair, figure, 0));
        }
        if figure.ratio.is_some() {
            figure
                .suspect
                .iter()
                .for_each(|why| add(format!("compared, though {why}"), label(pair, figure, 0)));
        }
        let Some(why) = figure.why.as_ref().filter(|_| figure.rounds_needed.is_none()) else { continue };
        let ranges = figure.ranges.map_or_else(String::new, |ranges| {
            let [a, b] = ranges.map(|(low, high)| format!("{} to {}", number(low), number(high)));
            format!(" ({}: {a}; {}: {b})", pair.a, pair.b)
        });
        add(
            format!("{}, {}", figure.standing.word(), plain(why)),
            format!("{}{ranges}", label(pair, figure, 0)),
        );
    }
    for (ids, letter) in [(&pair.only_a, pair.a), (&pair.only_b, pair.b)] {
        for id in ids {
            add(format!("only in {letter}"), plain_to(id, MAX_NAME));
        }
    }
    groups
}

/// What the numbers mean.
pub(crate) fn legend(comparison: &Comparison) -> String {
    let over: Vec<String> =
        comparison.pairs.iter().map(|pair| counted(pair.corrected_over, "figure")).collect();
    format!(
        "ratio: how many times as good the other record's figure is as A's, whichever way is better; 95 %: its interval, by a \
         hierarchical bootstrap of rounds and samples; same: within ±{}; faster and slower: beyond that, and held after Holm's \
         correction over {}; changed: the same where neither way is better; about N rounds: so many of each would tell",
        percent(comparison.band),
        over.join(" and ")
    )
}

/// A host in a class; `*` where it rests on a test that is out of line.
pub(crate) fn cell(cell: &Cell, with_interval: bool) -> String {
    let mark = if cell.has_abnormal { "*" } else { "" };
    match cell.interval.filter(|[low, high]| with_interval && low != high) {
        Some([low, high]) => format!("{}{mark} [{}, {}]", number(cell.mean), number(low), number(high)),
        None => format!("{}{mark}", number(cell.mean)),
    }
}

/// What follows from the table of hosts, in sentences.
pub(crate) fn selection(selection: &Selection) -> Vec<String> {
    let mut sentences = selection.dominance.clone();
    if selection.rows.iter().flatten().any(|cell| cell.has_abnormal) {
        sentences.push("* rests on a test that is out of line: see above.".to_owned());
    }
    sentences
}
