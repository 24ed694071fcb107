//! What the figures of `truebench memory` show together.

use std::collections::BTreeMap;

use figure::stats::Ratio;
use figure::{Reading, Verdict};

use super::support::*;
use crate::explain::alignment::{self, Point};
use crate::explain::by_mix::{STREAMS, is_walk};
use crate::relations::curve::{Curve, Knee, Saturation, is_loaded};
use crate::relations::partner::{
    self, NON_TEMPORAL, REGULAR, Side, is_headline, kernel, same_arrays, same_setting, side, stores,
};
use crate::relations::traffic::{Mix, StorePair, per_counted, traffic};
use crate::relations::write_allocate::NO_GAIN;

/// A direction by mix needs as many mixes.
const LEAST_MIXES: usize = 3;
/// More curves have one sentence together.
const MOST_CURVES: usize = 2;

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
            // The reason ends with what to do, which the case has as its fix.
            let reason = reason.split("; state").next().unwrap_or(reason);
            Memory::MovesUpToUnknown { moved, best, reason: sentence(reason).to_owned() }
        }
    };
    Some(note("moves", case, &[figure]))
}

/// Which way bandwidth goes with the share of writes, over the walks of `memory mix` with the same loop: one for each memory.
pub(super) fn mixes(record: &Record) -> Vec<Explanation> {
    let walks = || record.figures.iter().filter(|figure| figure.is_usable() && is_walk(figure));
    let is_first = |figure: &&Figure| {
        let memory = |figure: &Figure| figure.conditions.get(NODE_OF_MEMORY);
        walks()
            .find(|other| memory(other) == memory(figure))
            .is_some_and(|other| std::ptr::eq(other, *figure))
    };
    walks().filter(is_first).filter_map(|first| mixes_like(record, first)).collect()
}

fn mixes_like(record: &Record, first: &Figure) -> Option<Explanation> {
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
    let walks = walks.iter().filter_map(rate).collect();
    let case = match side {
        Side::Below => Memory::FallsWithWrites { walks },
        Side::Above => Memory::RisesWithWrites { walks },
        Side::Same => Memory::AnyWrites { walks },
        Side::Inconclusive => return None,
    };
    Some(note("mixes", case, &[]))
}

/// Latency under load: each curve, or many as one family.
pub(super) fn loads(record: &Record) -> Vec<Explanation> {
    let points = || record.figures.iter().filter(|figure| figure.is_usable() && is_loaded(figure));
    let is_first = |figure: &&Figure| {
        points().find(|other| other.series == figure.series).is_some_and(|other| std::ptr::eq(other, *figure))
    };
    let curves: Vec<&Figure> = points().filter(is_first).collect();
    if curves.len() > MOST_CURVES
        && let Some(family) = family(record, &curves)
    {
        return vec![family];
    }
    curves.into_iter().filter_map(|figure| curve(record, figure)).collect()
}

/// Where the curves of these figures saturate, those that do.
fn family(record: &Record, curves: &[&Figure]) -> Option<Explanation> {
    let property = |curve: &Figure, word: &str| {
        let fits = |other: &&Figure| {
            other.is_usable()
                && other.conditions.get(CURVE).as_deref() == Some(word)
                && other.conditions.get(MIX) == curve.conditions.get(MIX)
        };
        let figure = record.figures.iter().find(fits)?;
        Some(MixRate { mix: curve.conditions.get(MIX)?, walk: Cited::of(figure)? })
    };
    let all = |word: &str| List(curves.iter().filter_map(|curve| property(curve, word)).collect::<Vec<_>>());
    let idle = Amount::of(crate::relations::curve::idle(record, curves.first()?)?)?;
    let (count, onsets) = (Counted(curves.len() as f64, "curve"), all("onset"));
    let case = if onsets.0.is_empty() {
        let latencies =
            curves.iter().filter_map(|figure| Curve::of(record, figure)).flat_map(|curve| curve.points);
        let most = latencies.filter_map(|point| point.latency.value).reduce(f64::max)?;
        let times = Times(most / idle.value);
        Topology::FamilyShort { curves: count, times, idle, highest: all("highest") }
    } else {
        let saturates = |mix: &String| onsets.0.iter().any(|onset| onset.mix == *mix);
        let short: Vec<String> = curves
            .iter()
            .filter_map(|curve| curve.conditions.get(MIX))
            .filter(|mix| !saturates(mix))
            .collect();
        let short = (!short.is_empty()).then(|| short.join(", "));
        Topology::FamilySaturates { curves: count, idle, onsets, short }
    };
    Some(note("load", case, &[]))
}

fn curve(record: &Record, figure: &Figure) -> Option<Explanation> {
    let curve = Curve::of(record, figure)?;
    let (end, unloaded) = (curve.end()?, curve.idle?);
    let knee = match curve.knee() {
        Some(Knee::At(point)) => {
            KneePlace::At { bandwidth: Cited::of(point.bandwidth)?, latency: Amount::of(point.latency)? }
        }
        Some(Knee::Beyond) => KneePlace::Beyond,
        None => KneePlace::TooFewPoints,
    };
    let mix = figure.conditions.get(MIX).unwrap_or_default();
    let (idle, full, load) = (Amount::of(unloaded)?, Amount::of(end.latency)?, Amount::of(end.bandwidth)?);
    let case = match curve.saturation(record) {
        Saturation::Reached(..) => Topology::LoadSaturates { mix, idle, full, load, knee },
        Saturation::Short(injection) => {
            let reason = injection.to_string();
            Topology::LoadTooLow { mix, idle, full, load, knee, reason }
        }
        Saturation::Unknown(reason) => Topology::SaturationUnknown { mix, idle, full, load, knee, reason },
    };
    Some(note("load", case, &[unloaded, end.latency, end.bandwidth]))
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
    Some(note("write-allocate", case, &figures))
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
    Some(finding(severity, "memory-short", Memory::MemoryShort { limit }, &figures))
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
    let ratio = Range::from(&gain);
    let case = Memory::LargerPages { ratio, large: large.into(), small: small.into() };
    Some(note("pages", case, &[small, large]))
}

fn huge_share(figure: &Figure) -> f64 {
    figure.evidence.get(PAGES_HUGE_SHARE).into_value().unwrap_or(0.0)
}

/// The lowest ratio of each level, with its point.
type Lowest<'a> = BTreeMap<String, (Ratio, Point<'a>)>;

/// One for the whole sweep; `None` without one.
pub(super) fn alignment(record: &Record) -> Option<Explanation> {
    let figures = &record.figures;
    let (mut misaligned, mut distance) = (Lowest::new(), Lowest::new());
    let is_regular = |point: &Point| point.figure.conditions.get(STORES).as_deref() == Some(REGULAR);
    for point in figures.iter().filter(|figure| figure.is_usable()).filter_map(Point::of).filter(is_regular) {
        let Some(level) = point.figure.conditions.get(LEVEL) else { continue };
        let (lowest, reference) = match point.misalignment > 0.0 {
            true => (&mut misaligned, point.aligned(figures)),
            false => (&mut distance, point.best(figures)),
        };
        let Some(Ok(ratio)) = reference.map(|reference| partner::ratio(point.figure, reference.figure))
        else {
            continue;
        };
        if lowest.get(&level).is_none_or(|(other, _)| ratio.value < other.value) {
            lowest.insert(level, (ratio, point));
        }
    }
    if misaligned.is_empty() && distance.is_empty() {
        return None;
    }
    let case = Memory::Alignment { misaligned: effects(misaligned), distance: effects(distance) };
    Some(note("alignment", case, &[]))
}

fn effects(lowest: Lowest) -> List<LevelEffect> {
    let effect = |(level, (ratio, point)): (String, (Ratio, Point))| {
        let ratio = Some(ratio).filter(|ratio| !ratio.same(alignment::SAME) && ratio.value < 1.0);
        let figure = ratio.map(|_| point.figure.id.clone());
        LevelEffect { level, figure, ratio: ratio.map(|ratio| Times(ratio.value)) }
    };
    List(lowest.into_iter().map(effect).collect())
}
