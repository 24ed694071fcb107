//! What a record of `truebench faults` says of a program, and whether that is so. Pure.

use figure::evidence::{FAULT_TOTAL, MECHANISM, SETTING, SETTING_ENVIRONMENT};
use figure::format::plain_to;
use figure::stats::Ratio;
use figure::{Explanation, Figure, Interval, Record};
use serde::Serialize;
use suites::mechanisms::{Cost, decided, is_worth, leading, notable};
use suites::settings::{BASE, EFFECTS, Effect, Quantity, Took, trial};

use super::program::Truth;

/// Figures of the shares of mechanisms, before `map-churn.glibc`.
const SHARES: &str = "faults.mechanism.";
/// The longest reason, in characters.
const MOST_REASON: usize = 160;

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The mechanisms, largest first.
    pub causes: Vec<Cause>,
    /// Whether it names the first of them as the cause.
    pub is_decided: bool,
    /// The minor faults, by the kernel's count.
    pub faults: Option<f64>,
    /// What the faults cost.
    pub cost: Option<Cost>,
    /// All that it advises: variables, and findings with what to do.
    pub advice: Vec<String>,
}

/// A mechanism with its share of the faults.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// `map-churn.glibc`.
    pub word: String,
    /// Its share of the faults, 0 to 1.
    pub share: f64,
    /// The interval of the share.
    pub interval: Option<Interval>,
}

/// Whether it is the truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// It is.
    Right,
    /// It is not: what it says.
    Wrong(String),
    /// It does not say which mechanism is first: the largest share.
    Undecided(String),
}

impl Diagnosis {
    /// Of a record.
    pub fn of(record: &Record) -> Diagnosis {
        let mut causes: Vec<Cause> = record.figures.iter().filter_map(cause).collect();
        causes.sort_by(|one, other| other.share.total_cmp(&one.share));
        let cost = Cost::of(&record.figures);
        // Nothing is advised against mechanisms of few faults, nor where there is next to nothing to gain.
        let notable = notable(&record.figures);
        let is_shown = |figure: &&Figure| {
            let is_notable = || notable.iter().any(|one| one.id == figure.id);
            !figure.id.starts_with(SHARES) || (is_notable() && is_worth(figure, cost))
        };
        // What was tried and made it worse is advised against.
        let trial = trial(record);
        let worse =
            trial.iter().flat_map(|trial| &trial.arms).filter(|arm| arm.effect == Some(Effect::Worse));
        let worse: Vec<&str> = worse.map(|arm| arm.figure.id.as_str()).collect();
        let figures = record.figures.iter().filter(is_shown).filter(|one| !worse.contains(&one.id.as_str()));
        let variables = figures.filter_map(|figure| figure.conditions.get(SETTING_ENVIRONMENT));
        let advised = record.findings.iter().filter(|finding| finding.fix.is_some()).map(advice);
        let is_decided = decided(&leading(&notable)).is_some();
        let faults = record.figures.iter().find_map(|figure| figure.evidence.get(FAULT_TOTAL).into_value());
        Diagnosis { causes, is_decided, faults, cost, advice: variables.chain(advised).collect() }
    }

    /// Whether the mechanism that it names is the true one; of a healthy program, whether there is next to nothing to gain.
    pub fn verdict(&self, truth: &Truth) -> Verdict {
        if truth.is_healthy {
            return match self.cost {
                Some(cost) if cost.is_little() => Verdict::Right,
                Some(cost) => Verdict::Wrong(format!("{:.1} % of CPU time to gain", 100.0 * cost.most)),
                None => Verdict::Wrong("no share of CPU time".to_owned()),
            };
        }
        match self.causes.first() {
            Some(first) if !self.is_decided => {
                Verdict::Undecided(format!("{} {:.0} %, or another", first.word, 100.0 * first.share))
            }
            Some(first) if truth.causes.iter().any(|cause| is_of(&first.word, cause)) => Verdict::Right,
            Some(first) => Verdict::Wrong(format!("{} {:.0} %", first.word, 100.0 * first.share)),
            None => Verdict::Wrong("no mechanism".to_owned()),
        }
    }

    /// The advice that must not be given.
    pub fn wrong_advice(&self, truth: &Truth) -> Vec<&str> {
        let is_wrong = |advice: &&String| truth.never.iter().any(|word| advice.contains(word.as_str()));
        self.advice.iter().filter(is_wrong).map(String::as_str).collect()
    }
}

/// `map-churn.glibc` is one of `map-churn`.
fn is_of(word: &str, cause: &str) -> bool {
    word.strip_prefix(cause).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn cause(figure: &Figure) -> Option<Cause> {
    let word = figure.id.strip_prefix(SHARES)?.to_owned();
    figure.conditions.get(MECHANISM).filter(|_| figure.series.is_none())?;
    Some(Cause { word, share: figure.value?, interval: figure.interval.clone() })
}

fn advice(finding: &Explanation) -> String {
    [finding.text(), finding.fix.clone().unwrap_or_default()].join(" ")
}

/// Whether runs agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// All have the same first mechanism.
    pub is_same_first: bool,
    /// The intervals of its share have a value in common; `None` where one has no interval, or the first differs.
    pub do_overlap: Option<bool>,
    /// The least and the greatest share of the first mechanism, 0 to 1.
    pub range: Option<(f64, f64)>,
    /// The least and the greatest number of faults, by the kernel's count: where they differ, the program did so.
    pub faults: Option<(f64, f64)>,
}

/// Of several runs of one program that name a cause, or find nothing; `None` without two.
pub fn agreement(all: &[Diagnosis]) -> Option<Agreement> {
    let all: Vec<&Diagnosis> = all.iter().filter(|one| one.is_decided || one.causes.is_empty()).collect();
    let firsts: Vec<&Cause> = all.iter().filter_map(|one| one.causes.first()).collect();
    if all.len() < 2 {
        return None;
    }
    let is_same_first =
        firsts.len() == all.len() && firsts.windows(2).all(|pair| pair[0].word == pair[1].word);
    let intervals: Option<Vec<&Interval>> = firsts.iter().map(|cause| cause.interval.as_ref()).collect();
    let overlap = |all: Vec<&Interval>| {
        let low = all.iter().map(|one| one.low).fold(f64::MIN, f64::max);
        low <= all.iter().map(|one| one.high).fold(f64::MAX, f64::min)
    };
    Some(Agreement {
        is_same_first,
        do_overlap: intervals.filter(|_| is_same_first).map(overlap),
        range: range(firsts.iter().map(|cause| cause.share)).filter(|_| is_same_first),
        faults: range(all.iter().filter_map(|one| one.faults)),
    })
}

/// The least and the greatest; `None` of none.
fn range(all: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    all.map(|one| (one, one)).reduce(|(low, high), (one, _)| (low.min(one), high.max(one)))
}

/// `0.59x [0.49, 0.64]`.
pub fn ratio(of: &Ratio) -> String {
    format!("{:.2}x [{:.2}, {:.2}]", of.value, of.low, of.high)
}

/// What each setting did, as `--prove` measured it: `thresholds helps, 0.59x [0.49, 0.64] the CPU time`; or why none was tried.
pub fn proved(record: &Record) -> Vec<String> {
    let Some(trial) = trial(record) else {
        let is_about = |figure: &&Figure| {
            figure.id == EFFECTS || figure.conditions.get(SETTING).as_deref() == Some(BASE)
        };
        let why = record.figures.iter().filter(is_about).find_map(|one| one.reason.as_ref());
        // Behind it stands how to try one all the same.
        let why = why.and_then(|why| why.split(';').next());
        return why
            .map(|why| format!("nothing is tried: {}", plain_to(why, MOST_REASON)))
            .into_iter()
            .collect();
    };
    let word = |arm: &suites::settings::Arm| {
        let effect = match (arm.effect, &arm.took) {
            (Some(effect), _) => effect.description(),
            (None, Took::Unchanged(_) | Took::No(_)) => return format!("{} void", arm.name),
            (None, _) if arm.is_disturbed => "disturbed",
            (None, _) => "too few starts",
        };
        let cpu = arm.ratio(Quantity::Cpu).map(|cpu| ratio(&cpu));
        format!("{} {effect}{}", arm.name, cpu.map(|cpu| format!(", {cpu} the CPU time")).unwrap_or_default())
    };
    // What helps first.
    let mut arms: Vec<_> = trial.arms.iter().collect();
    arms.sort_by_key(|arm| arm.effect != Some(Effect::Helps));
    arms.into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use figure::evidence::{FAULT_HUGE, FAULT_MAJOR, FAULT_MINOR};
    use figure::{Better, Evidence, Round, Unit};

    use super::*;

    /// What faults cost that cost this share of the CPU time by the prices in a loop.
    fn cost(estimate: f64) -> Cost {
        let mut figure = Figure::planned("faults.gain", "faults", "cost", Unit::ONE, Better::Neither);
        figure.value = Some(estimate);
        figure.evidence.put(FAULT_HUGE, 0.0);
        Cost::of(&[figure]).unwrap()
    }

    fn diagnosis(word: &str, share: f64, low: f64, high: f64) -> Diagnosis {
        let interval = Interval { low, high, level: 0.95, method: "order-statistics".to_owned(), rounds: 9 };
        let causes = vec![Cause { word: word.to_owned(), share, interval: Some(interval) }];
        Diagnosis {
            causes,
            is_decided: true,
            faults: None,
            cost: Some(cost(0.3)),
            advice: vec!["GLIBC_TUNABLES=glibc.malloc.mmap_max=0".to_owned()],
        }
    }

    fn truth(causes: &[&str], is_healthy: bool) -> Truth {
        Truth {
            causes: causes.iter().map(|cause| (*cause).to_owned()).collect(),
            is_healthy,
            shown: String::new(),
            source: String::new(),
            lever: None,
            never: vec!["glibc.".to_owned()],
        }
    }

    #[test]
    fn the_first_mechanism_decides() {
        let churn = diagnosis("map-churn.glibc", 0.9, 0.8, 0.95);
        for (causes, is_right) in [
            (&["map-churn.glibc"][..], true),
            (&["map-churn"], true),
            (&["growth", "map-churn"], true),
            (&["map-churn.program"], false),
            (&["map"], false),
            (&["heap-trim"], false),
        ] {
            assert_eq!(churn.verdict(&truth(causes, false)) == Verdict::Right, is_right, "{causes:?}");
        }
        let nothing = Diagnosis { causes: Vec::new(), is_decided: false, ..churn.clone() };
        let unsure = Diagnosis { is_decided: false, ..churn };
        assert!(matches!(unsure.verdict(&truth(&["growth"], false)), Verdict::Undecided(_)));
        assert!(matches!(nothing.verdict(&truth(&["growth"], false)), Verdict::Wrong(_)));
    }

    #[test]
    fn of_a_healthy_program_the_gain_decides() {
        let sick = diagnosis("growth", 1.0, 1.0, 1.0);
        let healthy = Diagnosis { cost: Some(cost(0.001)), ..sick.clone() };
        let unknown = Diagnosis { cost: None, ..sick.clone() };
        let right = |one: &Diagnosis| one.verdict(&truth(&["file"], true)) == Verdict::Right;
        assert_eq!([right(&sick), right(&healthy), right(&unknown)], [false, true, false]);
    }

    #[test]
    fn advice_about_another_allocator_is_wrong() {
        let churn = diagnosis("map-churn.glibc", 0.9, 0.8, 0.95);
        assert_eq!(
            churn.wrong_advice(&truth(&["map-churn"], false)),
            ["GLIBC_TUNABLES=glibc.malloc.mmap_max=0"]
        );
        assert!(churn.wrong_advice(&Truth { never: Vec::new(), ..truth(&["map-churn"], false) }).is_empty());
    }

    #[test]
    fn runs_agree_where_mechanism_and_intervals_do() {
        let [one, alike] = [diagnosis("growth", 0.9, 0.8, 0.95), diagnosis("growth", 0.82, 0.7, 0.85)];
        let [apart, other] = [diagnosis("growth", 0.5, 0.4, 0.6), diagnosis("file", 0.9, 0.8, 0.95)];
        let of = |all: &[&Diagnosis]| {
            agreement(&all.iter().map(|one| (*one).clone()).collect::<Vec<_>>())
                .map(|agreement| (agreement.is_same_first, agreement.do_overlap))
        };
        assert_eq!(of(&[&one, &alike]), Some((true, Some(true))));
        assert_eq!(of(&[&one, &alike, &apart]), Some((true, Some(false))));
        assert_eq!(of(&[&one, &other]), Some((false, None)));
        assert_eq!(of(&[&one, &Diagnosis { causes: Vec::new(), ..other.clone() }]), Some((false, None)));
        assert_eq!(of(&[&one]), None);
        let unsure = Diagnosis { is_decided: false, ..other.clone() };
        assert_eq!(of(&[&one, &alike, &unsure]), Some((true, Some(true))));
        assert_eq!(of(&[&one, &unsure]), None);
        let counted = |faults| Diagnosis { faults: Some(faults), ..one.clone() };
        let of_faults = agreement(&[counted(2e5), counted(1e5), one.clone()]).unwrap().faults;
        assert_eq!(of_faults, Some((1e5, 2e5)));
    }

    fn record(figures: Vec<Figure>) -> Record {
        Record { figures, ..Record::default() }
    }

    /// A setting that was tried, with the CPU seconds of each start and the number of its faults.
    fn tried(word: &str, cpu: f64, faults: f64) -> Figure {
        let id = format!("faults.prove.cpu.{word}");
        let mut figure = Figure::planned(id, "faults", word, Unit::SECONDS, Better::Lower);
        figure.conditions.set(SETTING, word.to_owned());
        if word != BASE {
            figure.conditions.set(SETTING_ENVIRONMENT, format!("SET={word}"));
        }
        let mut evidence = Evidence::default();
        evidence.put(FAULT_MINOR, faults);
        evidence.put(FAULT_MAJOR, 0.0);
        let round = |_| Round::new(String::new(), cpu, vec![cpu], evidence.clone());
        figure.rounds = (0..6).map(round).collect();
        figure.summarise();
        figure.verdict = Some(figure::Verdict::Valid);
        figure
    }

    #[test]
    fn what_was_tried_and_made_it_worse_is_no_advice() {
        let advice = |cpu: f64| {
            let trial = record(vec![tried(BASE, 2.0, 1e6), tried("other", cpu, 1e3)]);
            (Diagnosis::of(&trial).advice, proved(&trial))
        };
        let (better, proved) = advice(1.0);
        assert_eq!(better, ["SET=other"]);
        assert_eq!(proved, ["other helps, 0.50x [0.50, 0.50] the CPU time"]);
        assert!(advice(3.0).0.is_empty());
    }

    #[test]
    fn why_nothing_was_tried_is_the_reason_of_the_missing_figure() {
        let settings = Figure::planned(EFFECTS, "faults", "settings", Unit::ONE, Better::Lower);
        let missing =
            settings.not_available("no setting saves growth; --setting NAME tries one all the same");
        assert_eq!(proved(&record(vec![missing])), ["nothing is tried: no setting saves growth"]);
        let mut base =
            Figure::planned("faults.prove.cpu.base", "faults", "base", Unit::SECONDS, Better::Lower);
        base.conditions.set(SETTING, BASE.to_owned());
        let failed = base.not_available("the program itself fails: exit code 3");
        assert_eq!(
            proved(&record(vec![failed])),
            ["nothing is tried: the program itself fails: exit code 3"]
        );
        assert!(proved(&record(Vec::new())).is_empty());
    }
}
