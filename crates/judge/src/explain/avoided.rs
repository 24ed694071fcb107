//! Non-temporal stores bring nothing: does the processor avoid the write-allocate, or is its non-temporal
//! store slow?
//!
//! Both are known: Intel SpecI2M (Ice Lake and later) and Arm write streaming claim lines without reading them;
//! on Xeon 7500 even a non-temporal store costs a third transfer (study 1, step 7). What else this memory has
//! shown to move decides: no figure can move more with a write-allocate than the memory moves at all.

use figure::Figure;

use super::{Rule, amount, moved, pair, usable};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{REGULAR, is_headline, same_arrays, same_setting, stores};
use crate::relations::traffic::{StorePair, per_counted, traffic};
use crate::relations::write_allocate::NO_GAIN;

/// Traffic above the best that is certain by more than this is not traffic.
const BEYOND: f64 = 1.10;

pub(super) const RULE: Rule = Rule { name: "avoided", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let pair = pair(subject)?;
    let gain = pair.gain().filter(|gain| *gain < NO_GAIN)?;
    let is_regular = stores(subject.figure).as_deref() == Some(REGULAR);
    let other = if is_regular { &pair.nt.id } else { &pair.regular.id };
    let seen = format!("non-temporal against regular stores is {gain:.2}x ({other})");
    let claimed = traffic(pair.regular)?;
    if let Some((limit, what)) = beyond(subject, &pair, claimed) {
        return Some(format!(
            "The processor avoids the write-allocate by itself: {seen}, and with it {} would move {}, beyond {} \
             ({what}).",
            pair.regular.id,
            amount(claimed, pair.regular),
            amount(limit, pair.regular),
        ));
    }
    let best = certain(subject, &pair)?;
    Some(format!(
        "Non-temporal stores are slow here: {seen}, though memory can move the {} that {} makes with its \
         write-allocate, as {} shows ({}).",
        moved(pair.regular),
        pair.regular.id,
        best.id,
        moved(best),
    ))
}

/// The limit that the claimed traffic would break, and its name.
fn beyond(subject: &Subject, pair: &StorePair, claimed: f64) -> Option<(f64, String)> {
    let peak = super::peak::of(subject).map(|peak| (peak.value, "the theoretical peak".to_owned()));
    let best = certain(subject, pair).and_then(|best| Some((traffic(best)?, best.id.clone())));
    peak.filter(|(limit, _)| claimed > *limit).or(best.filter(|(limit, _)| claimed > limit * BEYOND))
}

/// The figure with the most traffic among those whose traffic is what they count. The pair's own half is none:
/// it is what has to be explained.
fn certain<'a>(subject: &Subject<'a>, pair: &StorePair<'a>) -> Option<&'a Figure> {
    subject
        .record
        .figures
        .iter()
        .filter(|other| usable(other) && is_headline(other) && !std::ptr::eq(*other, pair.nt))
        .filter(|other| same_setting(other, pair.nt) && same_arrays(other, pair.nt))
        .filter(|other| per_counted(other) == Some(1.0))
        .max_by(|a, b| traffic(a).unwrap_or(0.0).total_cmp(&traffic(b).unwrap_or(0.0)))
}
