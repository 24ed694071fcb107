//! Explanations in the order in which they matter.

use std::collections::BTreeMap;

use figure::{Explanation, Record, Severity};

/// What makes figures wrong first, then what they say, then what disturbed them; each kind from all suites in turn.
pub(crate) fn findings(record: &Record) -> Vec<&Explanation> {
    let kind = |finding: &Explanation| match finding.severity {
        Severity::Error => 0,
        Severity::Note => 1,
        Severity::Warning => 2,
    };
    let suite = |finding: &Explanation| {
        let id = finding.figures.first().map_or("", String::as_str);
        id.split('.').next().unwrap_or_default().to_owned()
    };
    // How many of the same kind and suite stand before it.
    let mut before: BTreeMap<(u8, String), usize> = BTreeMap::new();
    let ranked = record.findings.iter().map(|finding| {
        let turn = before.entry((kind(finding), suite(finding))).or_default();
        *turn += 1;
        (kind(finding), *turn, finding)
    });
    let mut ranked: Vec<(u8, usize, &Explanation)> = ranked.collect();
    ranked.sort_by_key(|(kind, turn, _)| (*kind, *turn));
    ranked.into_iter().map(|(.., finding)| finding).collect()
}
