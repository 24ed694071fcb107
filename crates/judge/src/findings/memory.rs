//! What the figures of `truebench memory` show together.

use figure::evidence::{MEMORY_LIMITED_BY, MIX, PAGES_ASKED, PAGES_HUGE_SHARE, SIMD};
use figure::{Explanation, Figure, Reading, Record, Severity, Unit, Verdict};

use super::{ids, sentence};
use crate::cases::{Case, Memory, MixRate};
use crate::check::Subject;
use crate::explain::by_mix::{STREAMS, is_walk};
use crate::relations::partner::{
    self, NON_TEMPORAL, Side, is_headline, kernel, same_arrays, same_setting, side, stores,
};
use crate::relations::traffic::{Mix, StorePair, per_counted, traffic};
use crate::relations::write_allocate::NO_GAIN;
use crate::values::{Amount, Cited, Counted, List, Range, Share, Times};

/// A direction by mix needs as many mixes.
const LEAST_MIXES: usize = 3;

/// What the memory really moves: the figure with the most traffic. Estimated traffic counts only where the
/// non-temporal twin shows that the write-allocate takes place.
pub(super) fn moves(record: &Record) -> Option<Explanation> {
    let peak = record.machine.memory.peak.value();
    let is_trusted = |figure: &&Figure| {
        let pair = StorePair::of(&Subject { figure, record }).filter(|pair| pair.nt.is_usable());
        let gain = pair.and_then(|pair| pair.gain());
        per_counted(figure) == Some(1.0) || gain.is_some_and(|gain| gain >= NO_GAIN)
    };
    let (figure, most) = record
        .figures
        .iter()
        .filter(|figure| figure.is_usable() && is_headline(figure) && figure.unit == Unit::GB_PER_S)
        .filter(is_trusted)
        .filter_map(|figure| Some((figure, traffic(figure)?)))
        .filter(|(_, most)| peak.is_none_or(|peak| *most <= peak.bytes_per_s / 1e9))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let gb_per_s = |value| Amount { value, unit: Unit::GB_PER_S };
    let (moved, best) = (gb_per_s(most), figure.into());
    let case = match &record.machine.memory.peak {
        Reading::Value(peak) => Memory::MovesUpTo {
            moved,
            best,
            share: Share(most * 1e9 / peak.bytes_per_s),
            peak: gb_per_s(peak.bytes_per_s / 1e9),
            basis: peak.basis.clone(),
        },
        Reading::Unknown(reason) => {
            Memory::MovesUpToUnknown { moved, best, reason: sentence(reason).to_owned() }
        }
    };
    Some(Case::from(case).explanation("moves", Severity::Note, ids(&[figure])))
}

/// Which way bandwidth goes with the share of writes, over the walks of `memory mix` whose loop is the same.
pub(super) fn mixes(record: &Record) -> Option<Explanation> {
    let first = record.figures.iter().find(|figure| figure.is_usable() && is_walk(figure))?;
    let mix = |figure: &Figure| {
        let is_alike = figure.is_usable() && is_walk(figure) && same_setting(figure, first);
        let name = figure.conditions.get(MIX).filter(|name| is_alike && name != STREAMS)?;
        Mix::named(&name).filter(|mix| mix.reads > 0.0)
    };
    let walks = record.figures.iter().filter_map(|figure| Some((figure, mix(figure)?)));
    let mut walks: Vec<(&Figure, Mix)> = walks.collect();
    walks.sort_by(|(_, a), (_, b)| b.read_share().total_cmp(&a.read_share()));
    let side = side(walks.last()?.0, walks.first()?.0).filter(|_| walks.len() >= LEAST_MIXES)?;
    let rate =
        |(figure, mix): &(&Figure, Mix)| Some(MixRate { mix: mix.to_string(), walk: Cited::of(figure)? });
    let walks = List(walks.iter().filter_map(rate).collect());
    let case = match side {
        Side::Below => Memory::FallsWithWrites { walks },
        Side::Above => Memory::RisesWithWrites { walks },
        Side::Same => Memory::AnyWrites { walks },
        Side::Untold => return None,
    };
    Some(Case::from(case).explanation("mixes", Severity::Note, Vec::new()))
}

/// What regular stores hide, over all kernels.
pub(super) fn write_allocate(record: &Record) -> Option<Explanation> {
    let non_temporal = record.figures.iter().filter(|figure| stores(figure).as_deref() == Some(NON_TEMPORAL));
    let pairs: Vec<StorePair> = non_temporal
        .filter_map(|figure| StorePair::of(&Subject { figure, record }))
        .filter(|pair| pair.regular.is_usable() && pair.nt.is_usable())
        .collect();
    let gains: Vec<f64> = pairs.iter().filter_map(StorePair::gain).collect();
    let (least, most) = (gains.iter().copied().reduce(f64::min)?, gains.iter().copied().reduce(f64::max)?);
    let kernels = Counted(pairs.len() as f64, "kernel");
    let shown = pairs.iter().find(|pair| kernel(pair.nt).as_deref() == Some("triad")).or(pairs.first())?;
    let case = match most < NO_GAIN {
        true => Memory::NonTemporalGainsNothing { kernels, most: Times(most) },
        false => Memory::NonTemporalGains {
            kernel: kernel(shown.nt)?,
            regular: Amount::of(shown.regular)?,
            moved: Amount { value: traffic(shown.regular)?, unit: shown.regular.unit.clone() },
            nt: Amount::of(shown.nt)?,
            kernels,
            least: Times(least),
            most: Times(most),
        },
    };
    let figures: Vec<&Figure> = pairs.iter().flat_map(|pair| [pair.regular, pair.nt]).collect();
    Some(Case::from(case).explanation("write-allocate", Severity::Note, ids(&figures)))
}

/// Arrays that are smaller than they should be, or could not be doubled.
pub(super) fn short(record: &Record) -> Option<Explanation> {
    let limit = |figure: &Figure| {
        figure.evidence.get(MEMORY_LIMITED_BY).into_value().filter(|limit| !limit.is_empty())
    };
    let figures: Vec<&Figure> = record.figures.iter().filter(|figure| limit(figure).is_some()).collect();
    let limit = sentence(&limit(figures.first()?)?).to_owned();
    let is_harmless = figures.iter().all(|figure| figure.verdict == Some(Verdict::Valid));
    let severity = if is_harmless { Severity::Note } else { Severity::Warning };
    Some(Case::from(Memory::MemoryShort { limit }).explanation("memory-short", severity, ids(&figures)))
}

/// The gain by larger pages, where a kernel was measured with two sorts of pages.
pub(super) fn pages(record: &Record) -> Option<Explanation> {
    let pages = |figure: &Figure| figure.conditions.get(PAGES_ASKED);
    let headlines = || record.figures.iter().filter(|figure| figure.is_usable() && is_headline(figure));
    let (small, large, gain) = headlines()
        .flat_map(|small| headlines().map(move |large| (small, large)))
        .filter(|(small, large)| {
            pages(small) != pages(large)
                && kernel(small) == kernel(large)
                && stores(small) == stores(large)
                && small.conditions.get(SIMD) == large.conditions.get(SIMD)
                && same_arrays(small, large)
                && partner::same_threads(small, large)
                && huge_share(large) > huge_share(small)
        })
        .filter_map(|(small, large)| Some((small, large, partner::ratio(large, small).ok()?)))
        .max_by(|a, b| a.2.value.total_cmp(&b.2.value))?;
    let (figures, ratio) = (ids(&[small, large]), Range::from(&gain));
    let case = Memory::LargerPages { ratio, large: large.into(), small: small.into() };
    Some(Case::from(case).explanation("pages", Severity::Note, figures))
}

fn huge_share(figure: &Figure) -> f64 {
    figure.evidence.get(PAGES_HUGE_SHARE).into_value().unwrap_or(0.0)
}
