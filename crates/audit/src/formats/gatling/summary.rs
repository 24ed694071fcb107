//! A summary of Gatling, whichever file it stands in.

use crate::load::Load;
use crate::statistics::Statistics;
use crate::text::Printed;

/// A summary, with times in seconds.
#[derive(Default)]
pub struct Summary {
    /// The simulation, or what distinguishes it from others in the same text; untrusted.
    pub subject: String,
    /// Requests: all, OK, KO.
    pub counts: [Option<f64>; 3],
    /// Requests a second, over whole seconds.
    pub rate: Option<Printed>,
    pub latency: Statistics,
    /// Requests that failed, by their printed kinds.
    pub failed: Vec<(&'static str, f64)>,
    pub unjudged: String,
}

impl Summary {
    /// As a load.
    pub fn load(self) -> Load {
        let [total, good, bad] = self.counts;
        // A column without requests has a dash in it.
        let (good, bad) = match total {
            Some(_) => (good.or(Some(0.0)), bad.or(Some(0.0))),
            None => (good, bad),
        };
        let sum = total.zip(good.zip(bad)).filter(|(total, (good, bad))| good + bad != *total);
        let seconds = total.zip(self.rate).filter(|(_, rate)| rate.value > 0.0).map(|(total, rate)| {
            let seconds = total / rate.value;
            Printed { value: seconds, off: seconds * rate.share() }
        });
        let bad = bad.unwrap_or(0.0);
        let named: f64 = self.failed.iter().map(|(_, count)| count).sum();
        let mut failed = if named <= bad { self.failed } else { Vec::new() };
        failed.push(("unspecified", if named <= bad { bad - named } else { bad }));
        Load {
            tool: "gatling",
            subject: self.subject,
            rate: self.rate,
            seconds,
            answered: good,
            failed,
            latency: self.latency,
            pauses: true,
            contradiction: sum
                .map(|(total, (good, bad))| format!("{good} OK and {bad} KO are not {total} requests")),
            unjudged: self.unjudged,
            ..Load::default()
        }
    }
}
