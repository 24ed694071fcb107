//! Do copy and scale, which move the same bytes, agree?

use super::partner::{self, NON_TEMPORAL, REGULAR};
use crate::prelude::*;

/// The multiplication of scale hides behind memory entirely: study 1 has the two within 1.3 % with regular and
/// 0.2 % with non-temporal stores. Four times that is not noise.
const SAME: f64 = 0.05;

/// Copy against scale.
pub const CHECK: Check = Check::new(page!("copy-scale"), |subject| pair(subject).is_some(), rule);

/// (copy, scale), if the subject is one of them. Baselines are none of our kernels: a compiler may turn either
/// loop into a call of memcpy.
fn pair<'a>(subject: &Subject<'a>) -> Option<(&'a Figure, &'a Figure)> {
    let figure = subject.figure;
    let stores = partner::stores(figure)?;
    if !partner::is_headline(figure) || !matches!(stores.as_str(), REGULAR | NON_TEMPORAL) {
        return None;
    }
    match partner::kernel(figure)?.as_str() {
        "copy" => Some((figure, partner::find(subject, "scale", &stores, None)?)),
        "scale" => Some((partner::find(subject, "copy", &stores, None)?, figure)),
        _ => None,
    }
}

fn rule(subject: &Subject) -> Answer {
    let Some((copy, scale)) = pair(subject) else {
        return Answer::unknown("copy and scale were not both measured");
    };
    let ratio = observed!(partner::paired(copy, scale));
    let slower = if ratio.value < 1.0 { copy } else { scale };
    let case =
        Arrays::CopyAndScale { copy: copy.into(), ratio: RatioTo::new(&ratio, scale), slower: slower.into() };
    Answer::warn_if(!ratio.same(SAME), case)
}
