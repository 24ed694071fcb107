use super::*;
use figure::host::Cache;
use proptest::prelude::*;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// A ladder of thirds of octaves over levels of (bytes, cost), memory last; what does not fit misses.
fn ladder(levels: &[(f64, f64)], memory: f64, largest: f64) -> Vec<Point> {
    let mut points = Vec::new();
    let mut bytes = 8.0 * KIB;
    while bytes <= largest * 1.001 {
        let hit = levels.iter().find(|(size, _)| bytes <= *size).map_or(memory, |(_, cost)| *cost);
        points.push(Point { bytes, cost: hit });
        bytes *= 2f64.powf(1.0 / 3.0);
    }
    points
}

/// Measured on a Sapphire Rapids guest while others ran: sizes in KiB, ns.
const MEASURED: &[(f64, f64)] = &[
    (16.0, 1.46),
    (21.0, 1.51),
    (26.0, 1.70),
    (32.0, 2.59),
    (41.0, 4.42),
    (51.0, 4.62),
    (64.0, 4.68),
    (102.0, 4.76),
    (162.0, 4.82),
    (256.0, 5.10),
    (512.0, 5.75),
    (813.0, 5.54),
    (1024.0, 5.65),
    (1291.0, 5.95),
    (1626.0, 8.06),
    (2048.0, 17.6),
    (2581.0, 44.5),
    (3251.0, 50.9),
    (4096.0, 45.3),
    (5161.0, 59.8),
    (6502.0, 148.0),
    (8192.0, 144.0),
    (10322.0, 204.0),
    (13004.0, 219.0),
    (32768.0, 189.0),
    (65536.0, 213.0),
    (131072.0, 247.0),
    (262144.0, 239.0),
    (524288.0, 276.0),
    (660562.0, 283.0),
    (832256.0, 252.0),
    (1048576.0, 427.0),
];

fn recorded() -> Vec<Point> {
    MEASURED.iter().map(|(kib, cost)| Point { bytes: kib * KIB, cost: *cost }).collect()
}

fn within(value: f64, wanted: f64, factor: f64) -> bool {
    (value / wanted).ln().abs() <= factor.ln()
}

#[test]
fn clean_steps_are_found_where_they_are() {
    let points = ladder(&[(48.0 * KIB, 1.5), (2.0 * MIB, 4.7), (32.0 * MIB, 25.0)], 110.0, 512.0 * MIB);
    let measured = edges(&points);
    assert_eq!(measured.len(), 3, "{measured:?}");
    for (edge, wanted) in measured.iter().zip([48.0 * KIB, 2.0 * MIB, 32.0 * MIB]) {
        assert!(within(edge.bytes, wanted, 1.27), "{edge:?}");
        assert!(edge.from <= wanted && edge.to >= wanted && edge.below < edge.above);
    }
    assert!(edges(&ladder(&[], 100.0, 64.0 * MIB)).is_empty(), "one level has no edge");
    assert!(edges(&[]).is_empty());
}

#[test]
fn a_recorded_ladder_of_a_disturbed_guest() {
    let caches = [(1, 48 << 10), (2, 2 << 20), (3, 480 << 20)];
    let (levels, left) = matched(&edges(&recorded()), &caches, 1024.0 * MIB);
    let edge = |level: usize| levels[level].edge.unwrap().bytes;
    assert!(within(edge(0), 48.0 * KIB, 1.5), "{levels:?}");
    assert!(within(edge(1), 2.0 * MIB, 1.5), "{levels:?}");
    // 480 MiB are the host's; what this guest got of them ended at some 6 MiB.
    assert!(within(edge(2), 6.0 * MIB, 1.5) && levels[2].has_edge, "{levels:?}");
    assert_eq!(left, [], "the rise that the ladder ends in is no edge");
}

#[test]
fn a_shared_last_level_that_fades_out_is_detected() {
    // The read bandwidth of one thread on the same guest, GB/s.
    let recorded = [
        (16.0, 262.0),
        (36.0, 310.0),
        (48.0, 296.0),
        (72.0, 168.0),
        (256.0, 169.0),
        (1024.0, 163.0),
        (1536.0, 169.0),
        (2048.0, 162.0),
        (3072.0, 30.8),
        (4096.0, 29.1),
        (16384.0, 29.6),
        (65536.0, 22.1),
        (262144.0, 14.6),
        (1048576.0, 14.3),
        (2097152.0, 14.3),
    ];
    let points: Vec<Point> =
        recorded.iter().map(|(kib, rate)| Point { bytes: kib * KIB, cost: 1.0 / rate }).collect();
    let caches = [(1, 48 << 10), (2, 2 << 20), (3, 480 << 20)];
    let (levels, left) = matched(&edges(&points), &caches, 2048.0 * MIB);
    let ends: Vec<f64> = levels.iter().map(|level| level.edge.unwrap().bytes).collect();
    for (end, wanted) in ends.iter().zip([48.0 * KIB, 2.0 * MIB, 64.0 * MIB]) {
        assert!(within(*end, wanted, 1.5), "{ends:?}");
    }
    assert!(levels.iter().all(|level| level.has_edge) && left.is_empty());
}

#[test]
fn a_step_between_even_plateaus_is_an_edge_though_low() {
    // The read bandwidth of one thread on a Zen 4 guest, GB/s: L3 gives 86 % of what L2 does.
    let recorded = [
        (16.0, 186.5),
        (24.0, 186.4),
        (32.0, 182.9),
        (48.0, 104.9),
        (64.0, 104.4),
        (256.0, 102.2),
        (768.0, 101.3),
        (1024.0, 87.5),
        (1536.0, 84.9),
        (4096.0, 86.5),
        (16384.0, 60.4),
        (65536.0, 24.5),
        (262144.0, 24.6),
    ];
    let points: Vec<Point> =
        recorded.iter().map(|(kib, rate)| Point { bytes: kib * KIB, cost: 1.0 / rate }).collect();
    let caches = [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)];
    let (levels, left) = matched(&edges(&points), &caches, 256.0 * MIB);
    for (level, wanted) in levels.iter().zip(caches) {
        assert!(level.has_edge && within(level.edge.unwrap().bytes, wanted.1 as f64, 1.5), "{levels:?}");
    }
    assert!(left.is_empty());
    // Without the step L2 is not reported as missing: the ladder does not show it.
    let level = |point: &Point| if point.bytes < 8.0 * MIB { 1.0 / 102.0 } else { point.cost };
    let blended: Vec<Point> = points
        .iter()
        .map(|point| if point.bytes < 48.0 * KIB { *point } else { Point { cost: level(point), ..*point } })
        .collect();
    let (levels, _) = matched(&edges(&blended), &caches, 256.0 * MIB);
    assert_eq!((levels[1].edge, levels[1].blends), (None, Some(3)), "{levels:?}");
    assert!(levels[2].has_edge);
}

#[test]
fn a_rise_that_bends_is_two_levels() {
    // The latency of a Zen 4 guest that got some 2 MiB of a shared L3 of 32 MiB, ns.
    let recorded = [
        (16.0, 1.23),
        (24.0, 1.36),
        (32.0, 1.70),
        (48.0, 3.95),
        (64.0, 4.00),
        (256.0, 4.12),
        (768.0, 6.77),
        (1024.0, 9.98),
        (1536.0, 14.5),
        (4096.0, 136.0),
        (16384.0, 164.0),
        (65536.0, 172.0),
        (262144.0, 188.0),
        (1048576.0, 269.0),
    ];
    let points: Vec<Point> = recorded.iter().map(|(kib, ns)| Point { bytes: kib * KIB, cost: *ns }).collect();
    let caches = [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)];
    let (levels, _) = matched(&edges(&points), &caches, 1024.0 * MIB);
    let ends: Vec<f64> = levels.iter().map(|level| level.edge.unwrap().bytes).collect();
    for (end, wanted) in ends.iter().zip([32.0 * KIB, 1.0 * MIB, 2.5 * MIB]) {
        assert!(within(*end, wanted, 1.5), "{ends:?}");
    }
    assert!(levels.iter().all(|level| level.has_edge));
}

#[test]
fn the_longer_gentle_stretch_is_the_plateau() {
    // The same guest, more sizes: small pages of the host make L2 give way from 256 KiB on.
    let recorded = [
        (16.0, 1.27),
        (24.0, 1.53),
        (32.0, 3.05),
        (40.0, 4.12),
        (64.0, 4.11),
        (128.0, 4.26),
        (192.0, 4.50),
        (256.0, 4.71),
        (384.0, 5.55),
        (512.0, 6.51),
        (640.0, 7.45),
        (768.0, 9.00),
        (1024.0, 9.53),
        (1280.0, 12.79),
        (1536.0, 13.5),
        (2048.0, 14.96),
        (3072.0, 107.6),
        (4096.0, 143.5),
        (6144.0, 151.8),
        (12288.0, 158.1),
        (32768.0, 173.4),
        (98304.0, 178.7),
        (196_608.0, 189.6),
        (262_144.0, 205.4),
        (393_216.0, 231.5),
        (524_288.0, 260.1),
        (786_432.0, 279.6),
        (1_048_576.0, 293.2),
    ];
    let points: Vec<Point> = recorded.iter().map(|(kib, ns)| Point { bytes: kib * KIB, cost: *ns }).collect();
    let caches = [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)];
    let (levels, left) = matched(&edges(&points), &caches, 1024.0 * MIB);
    let ends: Vec<f64> = levels.iter().map(|level| level.edge.unwrap().bytes).collect();
    for (end, wanted) in ends.iter().zip([32.0 * KIB, 1.0 * MIB, 2.7 * MIB]) {
        assert!(within(*end, wanted, 1.5), "{ends:?}");
    }
    assert!(left.iter().all(|edge| edge.bytes > 128.0 * MIB && edge.rise() < 1.5), "page walks: {left:?}");
}

#[test]
fn what_is_before_a_bend_is_the_nearer_levels() {
    let edge = |kib: f64, rise: f64| Edge {
        bytes: kib * KIB,
        from: kib * KIB * 0.7,
        to: kib * KIB * 1.4,
        below: 1.0,
        above: rise,
    };
    // The same guest with more sizes: L1, the two parts of a bend, and page walks behind 192 MiB.
    let measured = [edge(30.0, 3.3), edge(592.0, 2.5), edge(2681.0, 11.0), edge(354_698.0, 1.4)];
    let (levels, left) = matched(&measured, &[(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)], 1024.0 * MIB);
    let ends: Vec<f64> = levels.iter().map(|level| level.edge.unwrap().bytes / KIB).collect();
    assert_eq!(ends, [30.0, 592.0, 2681.0]);
    assert_eq!(left, [measured[3]]);
}

#[test]
fn page_walks_near_an_advertised_size_are_not_taken_for_the_cache() {
    let mut points = ladder(&[(48.0 * KIB, 1.5), (2.0 * MIB, 5.0), (6.0 * MIB, 45.0)], 200.0, 2048.0 * MIB);
    for point in points.iter_mut().filter(|point| point.bytes > 600.0 * MIB) {
        point.cost *= 1.4;
    }
    let caches = [(1, 48 << 10), (2, 2 << 20), (3, 480 << 20)];
    let (levels, left) = matched(&edges(&points), &caches, 2048.0 * MIB);
    assert!(within(levels[2].edge.unwrap().bytes, 6.0 * MIB, 1.3), "{levels:?}");
    assert_eq!(left.len(), 1);
    assert!(left[0].bytes > 500.0 * MIB && left[0].rise() < 1.5);
}

#[test]
fn a_level_that_is_not_there_ends_with_the_one_before() {
    let points = ladder(&[(32.0 * KIB, 1.5), (1.0 * MIB, 5.0)], 90.0, 256.0 * MIB);
    let caches = [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)];
    let (levels, left) = matched(&edges(&points), &caches, 256.0 * MIB);
    assert!(!levels[2].has_edge && left.is_empty());
    assert!(within(levels[2].edge.unwrap().bytes, 1.0 * MIB, 1.3), "{levels:?}");
    // A ladder that does not get there says nothing.
    let (levels, _) = matched(&edges(&points), &caches, 33.0 * MIB);
    assert_eq!(levels[2].edge, None);
}

#[test]
fn a_level_that_is_not_advertised_is_left_over() {
    let points = ladder(&[(32.0 * KIB, 1.5), (1.0 * MIB, 5.0), (32.0 * MIB, 30.0)], 120.0, 1024.0 * MIB);
    let (levels, left) = matched(&edges(&points), &[(1, 32 << 10), (2, 1 << 20)], 1024.0 * MIB);
    assert!(
        levels.iter().all(|level| level.has_edge && within(level.edge.unwrap().bytes, level.advertised, 1.3))
    );
    assert_eq!(left.len(), 1);
    assert!(within(left[0].bytes, 32.0 * MIB, 1.3));
}

#[test]
fn every_level_of_a_cpu_once_and_no_instructions() {
    let cache = |level, kind, size, cpus: &str| Cache {
        level,
        kind,
        size,
        line: Some(64),
        ways: None,
        cpus: cpus.parse().unwrap(),
    };
    let mut machine = Machine::default();
    machine.caches.instances = vec![
        cache(3, CacheKind::Unified, 32 << 20, "0-3"),
        cache(1, CacheKind::Instruction, 64 << 10, "0"),
        cache(1, CacheKind::Data, 48 << 10, "0"),
        cache(1, CacheKind::Data, 32 << 10, "1"),
        cache(2, CacheKind::Unified, 2 << 20, "0"),
    ];
    assert_eq!(advertised(&machine, &[0]), [(1, 48 << 10), (2, 2 << 20), (3, 32 << 20)]);
    assert_eq!(advertised(&machine, &[1]), [(1, 32 << 10), (3, 32 << 20)]);
    assert_eq!(
        advertised(&machine, &[0, 1, 2]).last(),
        Some(&(3, (32 << 20) / 3)),
        "shared by three threads"
    );
    assert_eq!(advertised(&Machine::default(), &[0]), []);
}

proptest! {
    /// Whatever the sizes and the noise, each edge of well separated levels is measured, and near.
    #[test]
    fn edges_are_found_through_noise(
        first in 13.5..16.5f64, second in 3.0..7.0f64, third in 3.0..6.0f64,
        steps in proptest::array::uniform3(2.0..6.0f64),
        noise in proptest::collection::vec(0.97..1.03f64, 80),
    ) {
        let sizes = [first, first + second, first + second + third].map(f64::exp2);
        let costs = [1.0, steps[0], steps[0] * steps[1], steps[0] * steps[1] * steps[2]];
        let levels = [(sizes[0], costs[0]), (sizes[1], costs[1]), (sizes[2], costs[2])];
        let mut points = ladder(&levels, costs[3], sizes[2] * 16.0);
        for (point, noise) in points.iter_mut().zip(&noise) {
            point.cost *= noise;
        }
        let measured = edges(&points);
        prop_assert_eq!(measured.len(), 3, "{:?}", measured);
        for (edge, size) in measured.iter().zip(sizes) {
            prop_assert!(within(edge.bytes, size, 1.5), "{:?} for {}", edge, size);
        }
        let caches = [(1, sizes[0] as u64), (2, sizes[1] as u64), (3, sizes[2] as u64)];
        let (matched, left) = matched(&measured, &caches, sizes[2] * 16.0);
        prop_assert!(left.is_empty() && matched.iter().all(|level| level.has_edge));
    }

    /// Nothing that can be measured makes it panic, and edges are ordered and inside the ladder.
    #[test]
    fn any_points_give_ordered_edges(
        points in proptest::collection::vec((1.0..1e10f64, prop_oneof![0.0..1e4f64, Just(f64::NAN), Just(-1.0)]), 0..40),
    ) {
        let points: Vec<Point> = points.into_iter().map(|(bytes, cost)| Point { bytes, cost }).collect();
        let measured = edges(&points);
        for edge in &measured {
            prop_assert!(edge.from <= edge.bytes * 1.0001 && edge.bytes <= edge.to * 1.0001 && edge.rise() >= LEAST_STEP);
        }
        prop_assert!(measured.windows(2).all(|pair| pair[0].to <= pair[1].from));
    }

    /// The order of points and the unit of cost do not matter.
    #[test]
    fn units_and_order_do_not_matter(scale in 0.01..100.0f64) {
        let scaled: Vec<Point> =
            recorded().into_iter().rev().map(|point| Point { cost: point.cost * scale, ..point }).collect();
        let (plain, scaled) = (edges(&recorded()), edges(&scaled));
        prop_assert_eq!(plain.len(), scaled.len());
        for (a, b) in plain.iter().zip(&scaled) {
            prop_assert!((a.bytes / b.bytes - 1.0).abs() < 1e-9);
        }
    }
}
