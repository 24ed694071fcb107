//! Figures that are not valid, by their first cause. Every count of them, in findings and in reports, comes from here.

use crate::check::{CheckResult, MIN_ROUNDS, ROUNDS};
use crate::{Figure, Outcome, Record, Verdict};

/// Figures of one verdict that share their first cause, in the order of the record.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Their verdict.
    pub verdict: Verdict,
    /// The name of the check that is the first cause, such as `foreign-load`.
    pub cause: String,
    /// Figures that have this cause themselves.
    pub own: Vec<&'a Figure>,
    /// Figures that only were computed from such figures.
    pub following: Vec<&'a Figure>,
}

impl<'a> Group<'a> {
    /// All figures, those that have the cause themselves first.
    pub fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.own.iter().chain(&self.following).copied()
    }

    /// How many figures there are; at least 1.
    pub fn count(&self) -> usize {
        self.own.len() + self.following.len()
    }
}

/// How many figures have a verdict, and how many of these only follow from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub all: usize,
    /// Figures with a source figure as the first reason.
    pub following: usize,
}

/// Why a figure is not valid, cause first; empty for a valid one.
pub fn reasons(figure: &Figure) -> Vec<CheckResult> {
    let reasons: Vec<CheckResult> = figure.checks.iter().filter(|check| check.is_reason()).cloned().collect();
    if reasons.is_empty() { first_reason(figure).into_iter().collect() } else { reasons }
}

/// Why a figure is not valid: its first reason, which is the cause. `None` for a valid one.
pub fn first_reason(figure: &Figure) -> Option<CheckResult> {
    let verdict = figure.verdict?;
    // In old records the number of rounds is no check.
    let unrecorded = || CheckResult {
        id: ROUNDS.to_owned(),
        outcome: Outcome::Unknown,
        detail: format!("{} of the {MIN_ROUNDS} rounds that an interval needs", figure.used_rounds().count()),
        fix: None,
        essential: true,
        ..Default::default()
    };
    let first = reason_for(verdict, &figure.checks);
    first.or_else(|| (verdict == Verdict::Unverified).then(unrecorded))
}

/// The first reason for a verdict, by these checks.
pub fn reason_for(verdict: Verdict, checks: &[CheckResult]) -> Option<CheckResult> {
    checks.iter().find(|check| check.is_reason()).filter(|_| verdict != Verdict::Valid).cloned()
}

/// The figures that are not valid, by verdict and first cause: the worst verdict first, then the most figures.
pub fn groups<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for figure in figures {
        let Some((verdict, reason)) = figure.verdict.zip(first_reason(figure)) else { continue };
        let known = groups.iter().position(|group| group.verdict == verdict && group.cause == reason.root());
        let at = known.unwrap_or_else(|| {
            let cause = reason.root().to_owned();
            groups.push(Group { verdict, cause, own: Vec::new(), following: Vec::new() });
            groups.len() - 1
        });
        match reason.cause {
            Some(_) => groups[at].following.push(figure),
            None => groups[at].own.push(figure),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.verdict, group.count())));
    groups
}

/// How many figures of the record have this verdict.
pub fn tally(record: &Record, verdict: Verdict) -> Tally {
    let mut tally = Tally::default();
    for figure in record.figures.iter().filter(|figure| figure.verdict == Some(verdict)) {
        tally.all += 1;
        tally.following += usize::from(first_reason(figure).is_some_and(|reason| reason.cause.is_some()));
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Cause;
    use crate::{Better, Unit};

    fn figure(id: &str, check: &str, outcome: Outcome, cause: Option<&str>) -> Figure {
        let mut figure = Figure::planned(id, "s", id, Unit::ONE, Better::Higher);
        figure.value = Some(1.0);
        let cause = cause.map(|cause| Cause { check: cause.to_owned(), figure: "a".to_owned() });
        figure.checks = vec![CheckResult {
            id: check.to_owned(),
            outcome,
            essential: true,
            cause,
            ..CheckResult::default()
        }];
        figure.verdict = Some(Verdict::of(&figure.checks));
        figure
    }

    #[test]
    fn what_was_computed_belongs_to_the_first_cause() {
        let figures = [
            figure("computed", "inputs", Outcome::Fail, Some("steal")),
            figure("a", "steal", Outcome::Fail, None),
            figure("b", "drift", Outcome::Warn, None),
            figure("good", "steal", Outcome::Pass, None),
        ];
        let groups = groups(figures.iter());
        let causes: Vec<_> = groups
            .iter()
            .map(|group| (group.verdict, group.cause.as_str(), group.own.len(), group.following.len()))
            .collect();
        assert_eq!(causes, [(Verdict::Invalid, "steal", 1, 1), (Verdict::Suspect, "drift", 1, 0)]);
        assert_eq!(
            groups[0].figures().map(|figure| figure.id.as_str()).collect::<Vec<_>>(),
            ["a", "computed"]
        );
    }

    #[test]
    fn too_few_rounds_are_a_cause_of_their_own() {
        let mut few = figure("few", "steal", Outcome::Pass, None);
        few.verdict = Some(Verdict::Unverified);
        assert_eq!(groups([&few].into_iter())[0].cause, crate::check::ROUNDS);
    }
}
