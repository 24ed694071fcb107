//! Kernels that are no store miss (read, update), and the one that only writes.

use figure::Figure;

use super::in_flight::under_way;
use super::{Rule, moved, usable};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{
    NON_TEMPORAL, Side, UNTOLD, is_headline, kernel, same_arrays, same_setting, side_scaled, stores,
};
use crate::relations::traffic::{Mix, mix, per_counted, traffic};

pub(super) const RULE: Rule = Rule { name: "one-way", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !is_headline(figure) {
        return None;
    }
    let own = mix(figure)?;
    match kernel(figure)?.as_str() {
        "read" => read(subject, own),
        "update" => update(subject, own),
        "write" if stores(figure).as_deref() == Some(NON_TEMPORAL) => write(subject, own),
        _ => None,
    }
}

/// Reading against the best mix of reads and writes.
fn read(subject: &Subject, own: Mix) -> Option<String> {
    let figure = subject.figure;
    let best = best(subject, |other, mix| mix.writes > 0.0 && mix.reads > 0.0 && certain(other))
        .or_else(|| best(subject, |_, mix| mix.writes > 0.0 && mix.reads > 0.0))?;
    let against = format!("{} of {} ({})", moved(best), best.id, mix(best)?);
    let ratio = traffic(figure)? / traffic(best)?;
    Some(match stands(figure, best)? {
        Side::Above => format!(
            "Reads only, so that memory never turns between reads and writes: {ratio:.2}x the {against}, the best mix."
        ),
        Side::Same => format!(
            "Reads alone ({own}) move as much as the best mix, {against}: turns between reads and writes cost \
             nothing here."
        ),
        Side::Below => {
            let (lines, at) = under_way(subject.record, figure)?;
            format!(
                "Reads only, yet {ratio:.2}x the {against}: turns of the memory are ruled out, and it fits a limit of \
                 lines in flight in each core ({lines} a thread at {at}), of which writes need none."
            )
        }
        Side::Untold => format!("Reads only, and {ratio:.2}x the {against}, the best mix; {UNTOLD}."),
    })
}

/// Which side of another's traffic a figure's is on.
fn stands(figure: &Figure, other: &Figure) -> Option<Side> {
    side_scaled(figure, other, per_counted(figure)? / per_counted(other)?)
}

/// Update against the best figure of the same mix that is a store miss.
fn update(subject: &Subject, own: Mix) -> Option<String> {
    let figure = subject.figure;
    let claim = "No store miss: it writes the lines that it has read, so that no write-allocate hides in it";
    let alike = best(subject, |other, mix| {
        certain(other) && kernel(other).as_deref() != Some("update") && mix == own
    });
    Some(match alike {
        Some(other) => format!(
            "{claim}; {own} like {}, it moves {:.2}x as much ({} against {}).",
            other.id,
            traffic(figure)? / traffic(other)?,
            moved(figure),
            moved(other)
        ),
        None => format!("{claim} and its {own} mix moves what is counted, {}.", moved(figure)),
    })
}

/// Writing past the cache against the best figure that also reads.
fn write(subject: &Subject, own: Mix) -> Option<String> {
    let other = best(subject, |other, mix| certain(other) && mix.reads > 0.0 && mix.writes > 0.0)?;
    let ratio = traffic(subject.figure)? / traffic(other)?;
    (stands(subject.figure, other)? == Side::Below).then(|| {
        format!(
            "Writes only ({own}), and this memory takes writes more slowly than it moves a mix: {ratio:.2}x the {} of \
             {} ({}).",
            moved(other),
            other.id,
            mix(other).map_or_else(String::new, |mix| mix.to_string())
        )
    })
}

/// Whether the figure's traffic is what it counts, not an estimate.
fn certain(figure: &Figure) -> bool {
    per_counted(figure) == Some(1.0)
}

/// The headline under the same conditions with the most traffic among those that `fits`.
fn best<'a>(subject: &Subject<'a>, fits: impl Fn(&Figure, Mix) -> bool) -> Option<&'a Figure> {
    subject
        .record
        .figures
        .iter()
        .filter(|other| usable(other) && is_headline(other) && !std::ptr::eq(*other, subject.figure))
        .filter(|other| same_setting(other, subject.figure) && same_arrays(other, subject.figure))
        .filter(|other| mix(other).is_some_and(|mix| fits(other, mix)))
        .max_by(|a, b| traffic(a).unwrap_or(0.0).total_cmp(&traffic(b).unwrap_or(0.0)))
}
