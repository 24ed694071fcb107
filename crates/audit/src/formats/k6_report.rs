//! What k6's summary holds, in whichever form, as a load.

use crate::load::{Asked, Load};
use crate::statistics::Statistics;
use crate::text::{Printed, number};

/// Users that do more than so many times what they can have several requests under way each (http.batch).
const BEYOND: f64 = 1.05;
/// Below this share users were idle, or were interrupted.
const IDLE: f64 = 0.95;
/// The deepest http.batch by default (`batch` in lib/options.go).
const BATCH: f64 = 20.0;
/// Words of checks that are about the time that an answer took.
const OF_TIME: &[&str] =
    &["duration", "latency", "response time", "responded in", "within", "faster", "timing", "timings", " ms"];
/// Words of checks that are about the status of an answer.
const OF_STATUS: &[&str] = &["status", "200", "201", "204", "2xx", "http code", "response code"];
/// A check of something else than the status that fails for more than this share is of answers that are none. Where it fails for fewer, it
/// may be of what the script only counts.
const MOSTLY: f64 = 0.5;
const RESULTS: &str = "k6's rate and latencies include failed requests; its latency leaves out connecting";

/// A metric: its values by their names, as they are printed.
pub(super) type Values = Vec<(String, Printed)>;

/// What a summary holds, in whichever form.
#[derive(Default)]
pub(super) struct Report {
    pub requests: Option<f64>,
    pub rate: Option<Printed>,
    pub duration: Values,
    /// Requests that failed, and those that did not.
    pub failed: Option<(f64, f64)>,
    pub iterations: Option<(f64, Printed)>,
    pub iteration: Values,
    pub dropped: Option<f64>,
    pub interrupted: f64,
    /// Seconds of the whole test.
    pub seconds: Option<Printed>,
    /// The fewest and the most users.
    pub users: Option<(f64, f64)>,
    /// Checks: name, passed, failed.
    pub checks: Vec<(String, f64, f64)>,
    /// All checks together.
    pub all_checks: Option<(f64, f64)>,
    pub plan: Plan,
    /// Whether there are numbers of groups and of scenarios.
    pub has_groups: bool,
    /// Whether nothing of it can be cut off.
    pub is_whole: bool,
    pub subject: String,
}

/// How users work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Plan {
    /// The text does not show it.
    #[default]
    Unknown,
    /// So many, all the time; seconds; and the line that says so.
    Users(f64, Option<Printed>, String),
    /// Their number changes, up to this.
    Ramp(f64),
    /// Iterations begin at this rate; `None` where it changes.
    Arrivals(Option<f64>, Option<Printed>),
    /// Several scenarios.
    Several,
}

/// The load that it shows.
///
/// # Errors
/// There are no requests.
pub(super) fn load(mut report: Report) -> Result<Load, String> {
    if report.plan == Plan::Unknown && report.dropped.is_some_and(|dropped| dropped > 0.0) {
        report.plan = Plan::Arrivals(None, None);
    }
    let requests = report.requests.ok_or("has no line of http_reqs")?;
    let of =
        |values: &Values, name: &str| values.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    let quantile = |(name, value): &(String, Printed)| {
        let quantile = match name.as_str() {
            "med" => 50.0,
            name => {
                number(name.strip_prefix("p(")?.strip_suffix(')')?).filter(|quantile| *quantile <= 100.0)?
            }
        };
        Some(((quantile * 1e4).round() / 1e6, *value))
    };
    let latency = Statistics {
        least: of(&report.duration, "min"),
        mean: of(&report.duration, "avg"),
        most: of(&report.duration, "max"),
        deviation: None,
        quantiles: report.duration.iter().filter_map(quantile).collect(),
    };
    let cycle = report.iterations.filter(|(count, _)| *count > 0.0).map(|(_, rate)| rate);
    let cycle = cycle.zip(of(&report.iteration, "avg"));
    // All counters are over the time of the test, so that each shows it.
    let of_iterations = report
        .iterations
        .filter(|(count, rate)| *count > 0.0 && rate.value > 0.0)
        .map(|(count, rate)| Printed { value: count / rate.value, off: count / rate.value * rate.share() });
    let of_requests = report
        .rate
        .filter(|rate| rate.value > 0.0)
        .map(|rate| Printed { value: requests / rate.value, off: 0.0 });
    let seconds = report.seconds.or(of_iterations).or(of_requests);
    let outcome = Outcome::of(&report, requests);
    let way = Way::of(&report, cycle, latency.mean);
    let each =
        report.iterations.map(|(count, _)| count).filter(|count| *count > 0.0).map(|count| requests / count);
    let rate_asked = match &report.plan {
        Plan::Arrivals(rate, _) => {
            let due = |seconds: Printed| {
                let (count, _) = report.iterations?;
                Some((count + report.dropped.unwrap_or(0.0) + report.interrupted) / seconds.value.max(1e-9))
            };
            let rate = rate.or_else(|| seconds.and_then(due)).zip(each);
            Some(
                rate.map_or(Asked::Unstated, |(rate, each)| {
                    Asked::Rate((rate * each * 100.0).round() / 100.0)
                }),
            )
        }
        Plan::Unknown if way.users.is_none() => Some(Asked::Perhaps),
        Plan::Several => Some(Asked::Perhaps),
        _ => None,
    };
    let lasts = match &report.plan {
        Plan::Users(_, lasts, _) | Plan::Arrivals(_, lasts) => *lasts,
        _ => None,
    };
    let is_open = matches!(report.plan, Plan::Arrivals(..));
    let mut unjudged = Vec::new();
    let dropped = report.dropped.filter(|dropped| *dropped > 0.0 && !is_open);
    unjudged.extend(dropped.map(|dropped| format!("{dropped} dropped iterations")));
    if outcome.of_time {
        unjudged.push("checks of the latency".to_owned());
    }
    if report.has_groups {
        unjudged.push("groups and scenarios".to_owned());
    }
    unjudged.push("parts of the latency; bytes".to_owned());
    Ok(Load {
        tool: "k6",
        subject: report.subject,
        rate: report.rate,
        seconds,
        // Users end their last iteration: the rate of arrivals is of the time that was asked for.
        sent_seconds: lasts
            .filter(|_| is_open)
            .map(|lasts| seconds.map_or(lasts.value, |own| own.value.min(lasts.value))),
        // A test that was ended before its time; users that end their last iteration make it longer.
        asked_seconds: lasts
            .filter(|lasts| report.seconds.is_some_and(|own| own.value + own.off < lasts.value)),
        completed: Some(requests),
        answered: outcome.answered,
        failed: outcome.failed,
        latency,
        connections: way.users,
        connections_from: way.from,
        in_flight_unknown: way.unknown,
        cycle: cycle.filter(|_| !way.by_requests),
        rate_asked,
        unsent: report.dropped.filter(|_| is_open).map(|dropped| dropped * each.unwrap_or(1.0)),
        unjudged: unjudged.join("; "),
        results: RESULTS,
        ..Load::default()
    })
}

/// What became of the requests.
struct Outcome {
    answered: Option<f64>,
    failed: Vec<(&'static str, f64)>,
    /// Whether checks of the latency failed, which is no failed answer.
    of_time: bool,
}

impl Outcome {
    fn of(report: &Report, requests: f64) -> Outcome {
        let has = |name: &str, words: &[&str]| words.iter().any(|word| name.to_lowercase().contains(word));
        let is_of_time = |name: &str| has(name, OF_TIME) || name.contains('<') && !has(name, &["status"]);
        let failing = || report.checks.iter().filter(|(_, _, failed)| *failed > 0.0);
        let of_time = failing().any(|(name, ..)| is_of_time(name));
        let answers = || failing().filter(|(name, ..)| !is_of_time(name));
        let is_of_status = |name: &str| has(name, OF_STATUS);
        let is_mostly = |passed: f64, failed: f64| failed > MOSTLY * (passed + failed);
        let status = answers().filter(|(name, ..)| is_of_status(name));
        let status = status.map(|(_, _, failed)| *failed).fold(0.0, f64::max);
        let body =
            answers().filter(|(name, passed, failed)| !is_of_status(name) && is_mostly(*passed, *failed));
        let body = body.map(|(_, _, failed)| *failed).fold(0.0, f64::max);
        let is_unclear =
            answers().any(|(name, passed, failed)| !is_of_status(name) && !is_mostly(*passed, *failed));
        let (by_status, expected) = match report.failed {
            Some((failed, expected)) => (failed, Some(expected)),
            // Before 0.31 only checks show statuses.
            None => (0.0, None),
        };
        // A request that failed fails its checks as well.
        let by_status = by_status.max(status).min(requests);
        let by_body = (body.min(requests) - by_status).max(0.0);
        let lost = by_status + by_body;
        let named: f64 = failing().map(|(_, _, failed)| failed).sum();
        let unnamed = report.all_checks.is_some_and(|(_, failed)| failed > named);
        let is_checked = report.checks.iter().any(|(name, ..)| has(name, OF_STATUS) && !is_of_time(name))
            && report.all_checks.is_some_and(|(passed, failed)| passed + failed >= requests);
        let is_known = (expected.is_some() || is_checked) && !unnamed && !is_unclear;
        Outcome {
            answered: (is_known || lost > 0.0).then_some((requests - lost).max(0.0)),
            failed: vec![("status", by_status), ("another body", by_body)],
            of_time,
        }
    }
}

/// How many users there are, and what they do at once.
#[derive(Default)]
struct Way {
    users: Option<f64>,
    from: String,
    unknown: String,
    /// Whether the requests are compared with the users, and not the iterations.
    by_requests: bool,
}

impl Way {
    fn of(report: &Report, cycle: Option<(Printed, Printed)>, mean: Option<Printed>) -> Way {
        let unknown = |unknown: &str| Way { unknown: unknown.to_owned(), ..Way::default() };
        let of_users = |users: f64, from: String| Way { users: Some(users), from, ..Way::default() };
        let busy = |users: f64| cycle.map(|(rate, time)| rate.value * time.value / users.max(1.0));
        match &report.plan {
            Plan::Users(users, _, from) => {
                let own = of_users(*users, from.clone());
                match busy(*users) {
                    None => Way { unknown: UNTIMED.to_owned(), ..own },
                    Some(busy) if busy < IDLE && report.interrupted > 0.0 => {
                        let unknown =
                            format!("{} iterations were interrupted and are in no mean", report.interrupted);
                        Way { unknown, ..own }
                    }
                    Some(_) => own.beside(report, mean),
                }
            }
            Plan::Ramp(most) => match busy(*most) {
                Some(busy) if busy > BEYOND => of_users(*most, format!("from up to {most} VUs")),
                _ => unknown(VARIES),
            },
            Plan::Arrivals(..) => unknown("iterations began at a rate"),
            Plan::Several => unknown("the run has several scenarios"),
            Plan::Unknown => {
                let Some((least, most)) = report.users else { return Way::default() };
                // More than all users can do; or as much, however they were asked to.
                let is_full = |busy: f64| busy > BEYOND || busy >= IDLE && report.is_whole;
                match busy(most) {
                    Some(busy) if is_full(busy) => {
                        of_users(most, format!("from vus_max max={most}")).beside(report, mean)
                    }
                    None => unknown(UNTIMED),
                    _ if least < most => unknown(VARIES),
                    _ => Way::default(),
                }
            }
        }
    }

    /// Compares the requests with the users, too: more at once than users is possible for those that send several (http.batch).
    fn beside(self, report: &Report, mean: Option<Printed>) -> Way {
        let users = self.users.unwrap_or(1.0).max(1.0);
        let at_once = report.rate.zip(mean).map_or(0.0, |(rate, mean)| rate.value * mean.value / users);
        if at_once <= BEYOND {
            return self;
        }
        let each = report
            .requests
            .zip(report.iterations)
            .map_or(1.0, |(requests, (count, _))| requests / count.max(1.0));
        if each > 1.0 && at_once <= BATCH {
            return Way {
                unknown: "users had several requests under way at once (http.batch)".to_owned(),
                ..self
            };
        }
        Way { by_requests: true, ..self }
    }
}

const UNTIMED: &str = "the text does not show how long iterations took";
const VARIES: &str = "the number of users changed in the run";
