//! The steps of a search, as evidence of its round.

use figure::evidence::{CPU_FOREIGN, SOFTIRQ_TIME, http as key};
use figure::{Evidence, Reading, Round};

/// One value per rate, in the order of the search.
#[derive(Debug, Default)]
pub struct SearchSteps {
    rate: Vec<f64>,
    answered: Vec<f64>,
    latency: Vec<f64>,
    missed: Vec<f64>,
    met: Vec<f64>,
    server: Vec<Reading<f64>>,
    late: Vec<Reading<f64>>,
    others: Vec<Reading<f64>>,
}

impl SearchSteps {
    /// Adds a window at `rate`. `missed` counts requests without an answer as expected. `server_cpus` is the
    /// number of the server's own CPUs, `cpus` that of client and server together.
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    pub fn push(
        &mut self,
        rate: f64,
        latency: Option<f64>,
        missed: u64,
        is_met: bool,
        round: &Round,
        server_cpus: Option<usize>,
        cpus: usize,
    ) {
        let fact = |key| round.evidence.get(key);
        let lasted = round.duration.max(f64::MIN_POSITIVE);
        self.rate.push(rate);
        self.answered.push(round.value().unwrap_or(0.0));
        self.latency.push(latency.unwrap_or(0.0));
        self.missed.push(missed as f64);
        self.met.push(f64::from(u8::from(is_met)));
        let allowed = || round.evidence.get(key::SERVER_ALLOWED).map(|cpus| cpus.len());
        let usable = server_cpus.map_or_else(allowed, Reading::Value);
        let used = fact(key::SERVER_USER).and(fact(key::SERVER_SYSTEM)).and(fact(key::SECONDS)).and(usable);
        self.server.push(used.map(|(((user, system), seconds), cpus)| {
            (user + system) / (seconds * cpus.max(1) as f64).max(f64::MIN_POSITIVE)
        }));
        let late = fact(key::LAG_LATE).and(fact(key::RESIDENCE));
        self.late.push(late.map(|(sent, read)| f64::max(sent, read)));
        // Packet processing in softirqs belongs to this load, but is charged to no process.
        let packets = fact(SOFTIRQ_TIME).into_value().unwrap_or(0.0);
        let others =
            fact(CPU_FOREIGN).map(|seconds| (seconds - packets).max(0.0) / (lasted * cpus.max(1) as f64));
        self.others.push(others);
    }

    /// Writes the columns; a column with an unknown value is unknown.
    pub fn write(self, evidence: &mut Evidence) {
        let columns = [
            (key::TRIED, self.rate),
            (key::TRIED_ANSWERED, self.answered),
            (key::TRIED_LATENCY, self.latency),
            (key::TRIED_MISSED, self.missed),
            (key::TRIED_HELD, self.met),
        ];
        for (key, column) in columns {
            evidence.put(key, column);
        }
        let columns = [
            (key::TRIED_SERVER, self.server),
            (key::TRIED_LATE, self.late),
            (key::TRIED_OTHERS, self.others),
        ];
        for (key, column) in columns {
            let values = column.into_iter().fold(Reading::Value(Vec::new()), |values, value| {
                values.and(value).map(|(mut values, value)| {
                    values.push(value);
                    values
                })
            });
            evidence.put_reading(key, values);
        }
    }
}
