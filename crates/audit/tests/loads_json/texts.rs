//! The texts, and what is expected of them.

use figure::Verdict;

/// A text, the connections that the caller knows, and what is expected of all its figures: id, verdict, first reason, value.
pub struct Text {
    pub name: &'static str,
    pub text: &'static str,
    pub connections: Option<f64>,
    pub says: &'static [(&'static str, Verdict, &'static str, f64)],
}

macro_rules! text {
    ($file:literal, $connections:expr, [$(($id:literal, $verdict:ident, $reason:literal, $value:literal)),* $(,)?]) => {
        Text {
            name: $file,
            text: include_str!(concat!("../data/", $file)),
            connections: $connections,
            says: &[$(($id, Verdict::$verdict, $reason, $value)),*],
        }
    };
}

pub const TEXTS: &[Text] = &[
    text!(
        "k6-80.txt",
        None,
        [
            ("k6.rate", Valid, "", 263.212),
            ("k6.mean", Valid, "", 303.19),
            ("k6.p50", Valid, "", 285.94),
            ("k6.p90", Suspect, "coordinated-omission", 402.35),
        ]
    ),
    text!(
        "k6-pauses.txt",
        None,
        [
            ("k6.rate", Valid, "", 4.8787),
            ("k6.mean", Valid, "", 18.41),
            ("k6.p50", Valid, "", 11.48),
            ("k6.p90", Suspect, "coordinated-omission", 32.86),
        ]
    ),
    text!(
        "k6-1x.txt",
        None,
        [
            ("k6.rate", Valid, "", 211.3877),
            ("k6.mean", Valid, "", 23.49),
            ("k6.p50", Valid, "", 0.81052),
            ("k6.p90", Suspect, "coordinated-omission", 93.16),
        ]
    ),
    text!(
        "k6-full.txt",
        None,
        [
            ("k6.rate", Valid, "", 211.3877),
            ("k6.mean", Valid, "", 23.49),
            ("k6.p50", Valid, "", 0.81052),
            ("k6.p90", Suspect, "coordinated-omission", 93.16),
        ]
    ),
    text!(
        "k6-fiber.txt",
        None,
        [
            ("k6.rate", Valid, "", 42183.44),
            ("k6.mean", Valid, "", 2.29),
            ("k6.p50", Valid, "", 1.91),
            ("k6.p90", Suspect, "coordinated-omission", 4.74),
        ]
    ),
    text!(
        "k6-arrivals.txt",
        None,
        [
            ("k6.rate", Unverified, "coordinated-omission", 166.398),
            ("k6.mean", Unverified, "coordinated-omission", 247.23),
            ("k6.p50", Unverified, "inputs", 97.6),
            ("k6.p90", Unverified, "inputs", 762.44),
        ]
    ),
    text!(
        "k6-dropped.txt",
        None,
        [
            ("k6.rate", Invalid, "rate-met", 513.764),
            ("k6.mean", Invalid, "rate-met", 95.75),
            ("k6.p50", Invalid, "inputs", 36.92),
            ("k6.p90", Invalid, "inputs", 241.18),
        ]
    ),
    text!(
        "k6-ramp.json",
        None,
        [
            ("k6.rate", Unverified, "rate-met", 567.962),
            ("k6.mean", Unverified, "rate-met", 43.5375),
            ("k6.p50", Unverified, "inputs", 39.6834),
            ("k6.p99", Unverified, "inputs", 109.7698),
        ]
    ),
    text!(
        "k6-export.json",
        None,
        [
            ("k6.rate", Unverified, "coordinated-omission", 528.3735),
            ("k6.mean", Unverified, "coordinated-omission", 3.84878),
            ("k6.p50", Unverified, "inputs", 3.55805),
            ("k6.p90", Unverified, "inputs", 5.25349),
        ]
    ),
    text!(
        "vegeta-210.txt",
        None,
        [
            ("vegeta.rate", Unverified, "coordinated-omission", 100.02),
            ("vegeta.mean", Unverified, "coordinated-omission", 0.653597),
            ("vegeta.p50", Unverified, "inputs", 0.65405),
            ("vegeta.p99", Unverified, "inputs", 0.900028),
        ]
    ),
    text!(
        "vegeta-293.txt",
        None,
        [
            ("vegeta.rate", Invalid, "errors-as-work", 19.35),
            ("vegeta.mean", Invalid, "errors-as-work", 646.318),
            ("vegeta.p50", Invalid, "inputs", 451.049),
            ("vegeta.p99", Invalid, "inputs", 2128.54),
        ]
    ),
    text!(
        "vegeta-120.txt",
        None,
        [
            ("vegeta.rate", Invalid, "too-short", 1017.617),
            ("vegeta.mean", Invalid, "too-short", 28.4193),
            ("vegeta.p50", Invalid, "inputs", 39.3379),
            ("vegeta.p99", Invalid, "inputs", 206.6927),
        ]
    ),
    text!(
        "vegeta-587.txt",
        None,
        [
            ("vegeta.rate", Invalid, "errors-as-work", 24.76),
            ("vegeta.mean", Invalid, "errors-as-work", 583.523),
            ("vegeta.p50", Invalid, "inputs", 417.547),
            ("vegeta.p90", Invalid, "inputs", 832.023),
            ("vegeta.p99", Invalid, "inputs", 2816.0),
        ]
    ),
    text!(
        "vegeta-340.txt",
        None,
        [("vegeta.rate", Suspect, "too-short", 1.0), ("vegeta.mean", Suspect, "too-short", 15312.13),]
    ),
    text!(
        "vegeta-readme.json",
        None,
        [
            ("vegeta.rate", Suspect, "too-short", 101.0001),
            ("vegeta.mean", Suspect, "too-short", 2.371194),
            ("vegeta.p50", Suspect, "inputs", 2.854306),
            ("vegeta.p90", Suspect, "inputs", 3.228223),
            ("vegeta.p99", Suspect, "inputs", 3.53),
        ]
    ),
    text!("vegeta-hist.txt", None, [("vegeta.p50", Suspect, "precision", 3.0)]),
    text!(
        "vegeta-plot.txt",
        None,
        [
            ("vegeta.p50", Unverified, "errors-as-work", 0.513059),
            ("vegeta.p90", Unverified, "errors-as-work", 0.555774),
            ("vegeta.p99", Unverified, "errors-as-work", 0.643073),
            ("vegeta.p999", Unverified, "errors-as-work", 2.21563),
        ]
    ),
    text!(
        "ghz-8.txt",
        Some(50.0),
        [
            ("ghz.rate", Invalid, "inconsistent-totals", 802142.94),
            ("ghz.mean", Invalid, "littles-law", 52.86),
            ("ghz.p50", Invalid, "inputs", 12.71),
            ("ghz.p90", Invalid, "inputs", 185.27),
            ("ghz.p99", Invalid, "inputs", 325.27),
        ]
    ),
    text!(
        "ghz-echo.txt",
        None,
        [
            ("ghz.rate", Unverified, "littles-law", 97443.68),
            ("ghz.mean", Unverified, "littles-law", 0.94),
            ("ghz.p50", Invalid, "results-truncated", 0.69),
            ("ghz.p90", Invalid, "results-truncated", 1.66),
            ("ghz.p99", Invalid, "results-truncated", 4.75),
        ]
    ),
    text!(
        "ghz-node.txt",
        None,
        [
            ("ghz.rate", Unverified, "littles-law", 20030.53),
            ("ghz.mean", Unverified, "littles-law", 5.64),
            ("ghz.p50", Unverified, "inputs", 4.72),
            ("ghz.p90", Suspect, "coordinated-omission", 9.55),
            ("ghz.p99", Suspect, "coordinated-omission", 14.21),
        ]
    ),
    text!(
        "ghz-deadline.txt",
        None,
        [
            ("ghz.rate", Invalid, "errors-as-work", 249.62),
            ("ghz.mean", Invalid, "errors-as-work", 12300.0),
            ("ghz.p50", Invalid, "inputs", 1020.0),
            ("ghz.p90", Invalid, "inputs", 1310.0),
            ("ghz.p99", Invalid, "inputs", 2360.0),
        ]
    ),
    text!(
        "ghz-docs.txt",
        None,
        [
            ("ghz.rate", Invalid, "errors-as-work", 1101.53),
            ("ghz.mean", Invalid, "errors-as-work", 32.01),
            ("ghz.p50", Invalid, "inputs", 33.23),
            ("ghz.p90", Invalid, "inputs", 38.89),
            ("ghz.p99", Invalid, "inputs", 69.6),
        ]
    ),
    text!(
        "fortio-readme.txt",
        None,
        [
            ("fortio.rate", Valid, "", 7.9056),
            ("fortio.mean", Valid, "", 60.5876),
            ("fortio.p50", Valid, "", 60.5556),
        ]
    ),
    text!(
        "fortio-behind.txt",
        None,
        [
            ("fortio.rate", Invalid, "rate-met", 80.698),
            ("fortio.mean", Invalid, "rate-met", 98.9972),
            ("fortio.p50", Invalid, "inputs", 75.5867),
            ("fortio.p90", Invalid, "inputs", 167.854),
            ("fortio.p99", Invalid, "inputs", 431.6),
            ("fortio.p999", Invalid, "inputs", 731.48),
        ]
    ),
    text!(
        "fortio-quiet.txt",
        None,
        [
            ("fortio.rate", Suspect, "rate-met", 173.1),
            ("fortio.mean", Suspect, "rate-met", 41.8011),
            ("fortio.p50", Suspect, "inputs", 1.50606),
            ("fortio.p90", Suspect, "inputs", 210.578),
        ]
    ),
    text!(
        "fortio-tcp.txt",
        None,
        [
            ("fortio.rate", Valid, "", 80495.0),
            ("fortio.mean", Valid, "", 0.0494),
            ("fortio.p50", Suspect, "precision", 0.45737),
            ("fortio.p90", Suspect, "coordinated-omission", 0.801115),
            ("fortio.p99", Suspect, "coordinated-omission", 0.878457),
            ("fortio.p999", Suspect, "coordinated-omission", 0.886192),
        ]
    ),
    text!(
        "fortio-grpc.json",
        None,
        [
            ("fortio.rate", Unverified, "coordinated-omission", 7.56838),
            ("fortio.mean", Unverified, "coordinated-omission", 277.319),
            ("fortio.p50", Unverified, "inputs", 277.288),
            ("fortio.p90", Unverified, "inputs", 279.942),
        ]
    ),
    text!(
        "oha-617.json",
        Some(10.0),
        [
            ("oha.rate", Unverified, "errors-as-work", 24578.77),
            ("oha.mean", Unverified, "errors-as-work", 0.405353),
            ("oha.p50", Unverified, "inputs", 0.264083),
            ("oha.p90", Suspect, "coordinated-omission", 0.928416),
            ("oha.p99", Suspect, "coordinated-omission", 1.726999),
            ("oha.p999", Suspect, "coordinated-omission", 2.618248),
        ]
    ),
    text!(
        "oha-ping.json",
        Some(20.0),
        [
            ("oha.rate", Valid, "", 2715.31),
            ("oha.mean", Valid, "", 7.366146),
            ("oha.p50", Valid, "", 5.103596),
            ("oha.p90", Suspect, "coordinated-omission", 15.3965),
            ("oha.p99", Suspect, "coordinated-omission", 37.9262),
            ("oha.p999", Suspect, "coordinated-omission", 46.49984),
        ]
    ),
];
