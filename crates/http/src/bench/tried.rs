//! What a search tried, as evidence of its round.

use figure::evidence::{CPU_FOREIGN, SOFTIRQ_TIME, http as key};
use figure::{Evidence, Reading, Round};

/// A number for each rate, in the order in which they were tried.
#[derive(Debug, Default)]
pub struct Tried {
    asked: Vec<f64>,
    answered: Vec<f64>,
    latency: Vec<f64>,
    missed: Vec<f64>,
    held: Vec<f64>,
    server: Vec<Reading<f64>>,
    late: Vec<Reading<f64>>,
    others: Vec<Reading<f64>>,
}

impl Tried {
    /// Adds a window: its rate, its latency in seconds, what was missed, whether it held, and what was seen of it. The server had so many
    /// CPUs of its own, if any; client and server together `cpus`.
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    pub fn push(
        &mut self,
        rate: f64,
        latency: Option<f64>,
        missed: u64,
        held: bool,
        round: &Round,
        server_cpus: Option<usize>,
        cpus: usize,
    ) {
        let of = |fact| round.evidence.get(fact);
        let lasted = round.duration.max(f64::MIN_POSITIVE);
        self.asked.push(rate);
        self.answered.push(round.value().unwrap_or(0.0));
        self.latency.push(latency.unwrap_or(0.0));
        self.missed.push(missed as f64);
        self.held.push(f64::from(u8::from(held)));
        let allowed = || round.evidence.get(key::SERVER_ALLOWED).map(|cpus| cpus.len());
        let given = server_cpus.map_or_else(allowed, Reading::Value);
        let used = of(key::SERVER_USER).and(of(key::SERVER_SYSTEM)).and(of(key::SECONDS)).and(given);
        self.server.push(used.map(|(((user, system), seconds), cpus)| {
            (user + system) / (seconds * cpus.max(1) as f64).max(f64::MIN_POSITIVE)
        }));
        self.late.push(of(key::LAG_LATE).and(of(key::RESIDENCE)).map(|(sent, read)| f64::max(sent, read)));
        // What the kernel did for the packets of the load is its own, and may be booked to nobody.
        let packets = of(SOFTIRQ_TIME).into_value().unwrap_or(0.0);
        let others =
            of(CPU_FOREIGN).map(|seconds| (seconds - packets).max(0.0) / (lasted * cpus.max(1) as f64));
        self.others.push(others);
    }

    /// Writes it into a round's evidence; a column that is unknown at one rate is unknown.
    pub fn write(self, evidence: &mut Evidence) {
        let columns = [
            (key::TRIED, self.asked),
            (key::TRIED_ANSWERED, self.answered),
            (key::TRIED_LATENCY, self.latency),
            (key::TRIED_MISSED, self.missed),
            (key::TRIED_HELD, self.held),
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
            let all = column.into_iter().fold(Reading::Value(Vec::new()), |all, one| {
                all.and(one).map(|(mut all, one)| {
                    all.push(one);
                    all
                })
            });
            evidence.put_reading(key, all);
        }
    }
}
