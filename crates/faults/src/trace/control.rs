//! How minor faults are sampled: enough samples at little cost; whose; and whether all new mappings are recorded.

use super::events::Scope;
use super::record::{EventKind, Set};

/// Samples per second that are aimed at while the program takes faults. One costs microseconds: a fault with a copy of 8 KB of stack.
pub const AIM: f64 = 500.0;
/// The most samples per second of the program's CPU time: they take 0.5 to 1 % of it.
const OF_CPU: f64 = 1250.0;
/// The fewest samples per second that are aimed at.
const LEAST_AIM: f64 = AIM / 4.0;
/// The first period: short enough for the start of a program, long enough for a storm of faults.
pub const FIRST: u64 = 23;
/// A program that rests most of the time has at least this part of the samples per second.
const OF_REST: f64 = 0.1;
/// Faults per second that are counted at most: of more, only those in windows ([`windows`](super::windows)). Counting one costs
/// some 80 ns.
const MOST_COUNTED: f64 = 50_000.0;
/// Seconds in which a program starts: windows begin after them, as a short program has too few for its faults, and rests do.
pub const YOUNG: f64 = 1.0;
/// Windows are at least this part of the time.
const MOST_EVERY: f64 = 16.0;
/// New mappings per second above which they are recorded in bursts only: over some time, as a program may make as many as in a second
/// at once, when it starts.
const MANY_MAPS: f64 = 5000.0;
/// They are all recorded again if a burst shows at most this part of them.
const FEW_MAPS: f64 = 0.5;
/// New mappings of each program that do not count: its loader makes them, and they cost little compared with
/// an exec. A program that ends soon shows nothing else.
const LOADER_MAPS: f64 = 16.0;
/// At least this share of the expected samples arrives if tasks live long enough for the period.
const LEAST_SHARE: f64 = 0.75;
/// The period is at most this share of the faults of a task, where most tasks are short: a task that ends before its first
/// sample has none.
const OF_TASK: f64 = 0.25;
/// Seconds over which rates are averaged: a program works and rests, and another period for each would be one too many.
const LONG: f64 = 2.0;
/// A share of fewer expected samples says nothing.
const SURE: f64 = 50.0;
/// Faults a second that others may take, beside as many as the program, where events are those of the machine.
const FEW_OTHERS: f64 = 200.0;
/// Others have too many samples if they have so many between two adjustments, and so many times the program's.
const OTHERS_SAMPLES: f64 = AIM / 2.0;
const OTHERS: f64 = 3.0;

/// One of `period` minor faults, in one of `every` parts of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    pub period: u64,
    pub every: u64,
}

/// What happened since the last adjustment: numbers per second, and how many seconds that was.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub samples: f64,
    /// All minor faults, also those outside windows.
    pub faults: f64,
    /// Tasks that began; `None` where counters are those of CPUs, and go on where a task ends.
    pub tasks: Option<f64>,
    /// CPUs that the program used on average; `None` where that is not known.
    pub cpus: Option<f64>,
    pub seconds: f64,
    /// Seconds since the trace began.
    pub age: f64,
}

/// Finds a period that gives enough samples and not too many.
#[derive(Debug)]
pub struct Control {
    /// Whether the period was not adapted yet.
    pub is_first: bool,
    /// A longer period misses many faults: the tasks do not live long enough.
    longest: u64,
    /// Means of the last intervals, the older the less: samples, those that are expected, faults, their squares, faults times the
    /// samples to aim at, and new tasks per second.
    means: [f64; 6],
}

impl Control {
    pub fn new() -> Control {
        Control { is_first: true, longest: u64::MAX, means: [0.0; 6] }
    }

    /// Another sampling, if the samples per second, or the faults that are counted, are far from their aim. The period is a prime, so
    /// that it does not run in step with blocks, which have a power of two of pages. `is_whole`: no samples were lost in full rings.
    pub fn adapted(&mut self, old: Sampling, now: Interval, is_whole: bool) -> Option<Sampling> {
        let weight = if self.is_first { 1.0 } else { 1.0 - (-now.seconds / LONG).exp() };
        self.is_first = false;
        let expected = now.faults / (old.period * old.every) as f64;
        let aim = now.cpus.map_or(AIM, |cpus| (cpus * OF_CPU).clamp(LEAST_AIM, AIM));
        let rates = [
            now.samples,
            expected,
            now.faults,
            now.faults.powi(2),
            now.faults * aim,
            now.tasks.unwrap_or(0.0),
        ];
        for (mean, now) in self.means.iter_mut().zip(rates) {
            *mean += weight * (now - *mean);
        }
        let [samples, expected, faults, squares, aims, tasks] = self.means;
        let aim = if faults > 0.0 { aims / faults } else { AIM };
        // The rate at which most faults come: what a sample costs is a share of the time in which the program works.
        let at_work = (squares / faults.max(f64::MIN_POSITIVE)).min(faults / OF_REST);
        let every = if now.age < YOUNG { 1 } else { Self::windows(old.every, at_work) };
        let of_task = faults / every as f64 / tasks.max(f64::MIN_POSITIVE) * OF_TASK;
        let most = now.tasks.map_or(f64::INFINITY, |_| of_task.min(self.longest as f64).max(1.0));
        let wanted = (at_work / every as f64 / aim).clamp(1.0, most);
        let period = old.period as f64;
        // Counters of CPUs count faults whose samples are left out: those of this process.
        let can_be_few = is_whole && now.tasks.is_some() && old.period > 1;
        let wanted = if can_be_few && expected > SURE && samples < expected * LEAST_SHARE {
            self.longest = (old.period / 4).max(1);
            self.longest
        } else if every != old.every || !(period / 4.0..period * 2.0).contains(&wanted) || period > most * 1.5
        {
            wanted as u64
        } else {
            return None;
        };
        let new = Some(Sampling { period: prime_from(wanted), every }).filter(|new| *new != old)?;
        let expected = faults / (new.period * new.every) as f64;
        self.means = [expected, expected, faults, squares, aims, tasks];
        Some(new)
    }

    /// One part in so many of the time, for so many faults per second; as before, if that is about right.
    fn windows(every: u64, faults: f64) -> u64 {
        let wanted = faults / MOST_COUNTED;
        let is_right = (0.5..1.5).contains(&(wanted / every as f64)) || (every == 1 && wanted < 1.5);
        if is_right { every } else { wanted.round().clamp(1.0, MOST_EVERY) as u64 }
    }
}

/// Whose events to record from now on: those of the machine cost the program less, but others take part of the samples. `own` and
/// `others` are faults in these seconds where events are those of tasks, and samples where they are those of the machine.
pub fn chosen(scope: Scope, own: f64, others: f64, seconds: f64) -> Scope {
    match scope {
        Scope::Tasks if others <= own + FEW_OTHERS * seconds => Scope::Machine,
        Scope::Machine if others > OTHERS_SAMPLES && others > own * OTHERS => Scope::Tasks,
        as_it_is => as_it_is,
    }
}

/// New mappings, without those of loaders, as a bucket that leaks at the rate that may be recorded.
#[derive(Debug, Default)]
pub struct Maps {
    level: f64,
    of_burst: f64,
    /// Whether some found no room.
    are_lost: bool,
}

impl Maps {
    pub fn count(&mut self, kind: &EventKind) {
        let more = match kind {
            EventKind::Map(map) if map.name == "//anon" => 1.0,
            EventKind::Name { exec: true, .. } => -LOADER_MAPS,
            EventKind::Lost { set: Set::Maps, records: 1.., .. } => return self.are_lost = true,
            _ => return,
        };
        (self.level, self.of_burst) = (self.level + more, self.of_burst + more);
    }

    /// Whether it costs the program too much to record all of them; `seconds` since the last look.
    pub fn are_many(&mut self, seconds: f64) -> bool {
        self.level = (self.level - MANY_MAPS * seconds).max(0.0);
        self.are_lost || self.level > MANY_MAPS
    }

    pub fn begin_burst(&mut self) {
        self.of_burst = 0.0;
    }

    /// Whether they are so few that all can be recorded from now on, by a burst of so many seconds.
    pub fn are_few(&mut self, seconds: f64) -> bool {
        let are_few = !self.are_lost && self.of_burst <= MANY_MAPS * FEW_MAPS * seconds;
        if are_few {
            self.level = 0.0;
        }
        are_few
    }
}

/// The first prime from here on; 1 stays 1.
pub fn prime_from(number: u64) -> u64 {
    let is_prime =
        |number: u64| (2..).take_while(|part| part * part <= number).all(|part| !number.is_multiple_of(part));
    if number <= 1 { 1 } else { (number..).find(|number| is_prime(*number)).unwrap_or(number) }
}

#[cfg(test)]
mod unit {
    use super::super::record::Map;
    use super::*;

    #[test]
    fn mappings_of_loaders_do_not_count() {
        let map = EventKind::Map(Map { name: "//anon".to_owned(), ..Map::default() });
        let begins = EventKind::Name { process: 1, thread: 1, name: "true".to_owned(), exec: true };
        let after = |programs: usize, maps: usize| {
            let mut new = Maps::default();
            for _ in 0..programs {
                new.count(&begins);
                (0..maps).for_each(|_| new.count(&map));
            }
            new.are_many(1.0)
        };
        // Short programs of a shell, and one program below the limit.
        assert!(!after(3000, 4) && !after(300, 16) && !after(1, 10_000));
        assert!(after(1, 11_000) && after(10, 1100));
    }

    #[test]
    fn mappings_are_many_by_their_rate_and_not_at_once() {
        // So many in a first interval of 0.05 s, then so many a second.
        let are_many = |first: u32, rate: u32| {
            let map = EventKind::Map(Map { name: "//anon".to_owned(), ..Map::default() });
            let mut new = Maps::default();
            (0..first).for_each(|_| new.count(&map));
            let at_once = new.are_many(0.05);
            let later = (0..400).position(|_| {
                (0..rate / 4).for_each(|_| new.count(&map));
                new.are_many(0.25)
            });
            (at_once, later.map(|intervals| intervals as f64 / 4.0))
        };
        assert_eq!(are_many(5000, 4800), (false, None));
        assert!(are_many(10_000, 0).0);
        assert_eq!(are_many(0, 100_000), (false, Some(0.0)));
        assert_eq!(are_many(0, 6000), (false, Some(5.0)));
    }

    #[test]
    fn few_mappings_in_a_burst_are_recorded_again() {
        let map = EventKind::Map(Map { name: "//anon".to_owned(), ..Map::default() });
        let after = |maps| {
            let mut new = Maps::default();
            (0..30_000).for_each(|_| new.count(&map));
            assert!(new.are_many(0.3));
            new.begin_burst();
            (0..maps).for_each(|_| new.count(&map));
            (new.are_few(0.04), new)
        };
        assert_eq!([200, 0, 100, 101].map(|maps| after(maps).0), [false, true, true, false]);
        let mut calm = after(100).1;
        assert!(!calm.are_many(0.25), "what there was before does not count");
        calm.count(&EventKind::lost(Set::Maps, 1, 1));
        assert!(calm.are_many(0.25) && !calm.are_few(0.04), "some found no room");
    }

    #[test]
    fn events_are_of_the_machine_while_others_fault_little() {
        use Scope::{Machine, Tasks};
        // The program's, others', and what comes of it, in a quarter of a second.
        for (scope, own, others, expected) in [
            (Tasks, 20_000.0, 30.0, Machine),
            (Tasks, 0.0, 30.0, Machine),
            (Tasks, 10.0, 100.0, Tasks),
            (Tasks, 20_000.0, 30_000.0, Tasks),
            (Machine, 100.0, 290.0, Machine),
            (Machine, 50.0, 290.0, Tasks),
            (Machine, 0.0, 200.0, Machine),
        ] {
            assert_eq!(chosen(scope, own, others, 0.25), expected, "{scope:?}: {own} and {others}");
        }
    }

    #[test]
    fn periods_are_primes_and_follow_the_samples() {
        assert_eq!([0, 1, 2, 8, 512, 1000].map(prime_from), [1, 1, 2, 11, 521, 1009]);
        // Each in its first interval.
        let first = |period, samples, faults| {
            period_after(&mut Control::new(), period, interval(samples, faults, 0.05))
        };
        assert_eq!(first(7, AIM, AIM * 7.0), None);
        assert_eq!(first(7, 7000.0, AIM * 70.0), Some(71));
        assert_eq!(first(701, AIM / 5.0, AIM * 100.0), Some(101));
        assert_eq!([first(7, 0.0, 0.0), first(1, 0.0, 0.0)], [Some(1), None]);
    }

    #[test]
    fn short_tasks_have_samples_from_the_start() {
        let now = Interval { tasks: Some(800.0), ..interval(1700.0, 40_000.0, 0.05) };
        assert_eq!(period_after(&mut Control::new(), FIRST, now), Some(13), "a quarter of 50");
    }

    /// The new period of a program that is watched all the time.
    fn period_after(control: &mut Control, period: u64, now: Interval) -> Option<u64> {
        control.adapted(Sampling { period, every: 1 }, now, true).map(|new| new.period)
    }

    fn interval(samples: f64, faults: f64, seconds: f64) -> Interval {
        Interval { samples, faults, tasks: Some(0.0), cpus: None, seconds, age: 2.0 }
    }

    /// How a program with so many faults a second is sampled, an interval of `seconds` each.
    fn samplings(faults: impl Iterator<Item = f64>, seconds: f64) -> Vec<Sampling> {
        let (mut control, mut sampling) = (Control::new(), Sampling { period: FIRST, every: 1 });
        let adapt = |rate: f64| {
            let now = interval(rate / (sampling.period * sampling.every) as f64, rate, seconds);
            sampling = control.adapted(sampling, now, true).unwrap_or(sampling);
            sampling
        };
        faults.map(adapt).collect()
    }

    #[test]
    fn storms_raise_it_soon_and_a_rest_lowers_it_late() {
        let storm = samplings(std::iter::repeat_n(1e6, 5), 0.02);
        assert_eq!(storm[0], Sampling { period: prime_from((1e6 / MOST_EVERY / AIM) as u64), every: 16 });
        // A tenth of a second of work, and nine of rest, again and again.
        let rate = |interval: usize| if interval.is_multiple_of(10) { 30_000.0 } else { 0.0 };
        let all = samplings((0..200).map(rate), 0.1);
        let changes = all[50..].windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 15, "{all:?}");
        assert!(all[50..].iter().all(|new| (17..=61).contains(&new.period) && new.every == 1), "{all:?}");
    }

    #[test]
    fn tasks_that_do_not_live_long_enough_for_the_period_shorten_it_for_good() {
        let mut control = Control::new();
        // 900 threads a second of 60 faults each.
        let samples = |period: u64| if period > 60 { 0.0 } else { (60 / period * 900) as f64 };
        let mut period = FIRST;
        for _ in 0..60 {
            let now = interval(samples(period), 54_000.0, 0.25);
            period = period_after(&mut control, period, now).unwrap_or(period);
        }
        assert!(samples(period) * period as f64 > 0.75 * 54_000.0, "{period}");
        assert!(period > 3, "{period}");
    }

    #[test]
    fn faults_without_samples_do_not_shorten_the_period_of_a_cpu() {
        let few = interval(100.0, AIM * 71.0, 1.0);
        let adapted = |tasks| {
            let old = Sampling { period: 71, every: 1 };
            Control::new().adapted(old, Interval { tasks, ..few }, true).map(|new| new.period)
        };
        assert_eq!([adapted(Some(1.0)), adapted(None)], [Some(17), None]);
    }

    #[test]
    fn samples_take_little_of_the_cpu_time_of_a_program_that_uses_little() {
        let first = |cpus| {
            let now = Interval { cpus, ..interval(AIM * 12.0, AIM * 12.0, 0.25) };
            period_after(&mut Control::new(), 1, now)
        };
        assert_eq!(
            [None, Some(1.5), Some(0.2), Some(0.0)].map(first),
            [Some(13), Some(13), Some(29), Some(53)]
        );
    }

    #[test]
    fn lost_samples_do_not_shorten_the_period() {
        let mut control = Control::new();
        let few = interval(AIM / 3.0, AIM * 7000.0, 1.0);
        let old = Sampling { period: 701, every: 16 };
        assert_eq!(control.adapted(old, few, false), None);
        assert_eq!(control.longest, u64::MAX);
        assert_eq!(control.adapted(old, few, true), Some(Sampling { period: prime_from(175), ..old }));
    }

    #[test]
    fn of_a_storm_windows_are_counted_and_of_less_everything() {
        let last = |faults: f64| samplings(std::iter::repeat_n(faults, 40), 0.25)[39].every;
        assert_eq!([0.0, 10_000.0, 70_000.0, 110_000.0, 300_000.0, 1e7].map(last), [1, 1, 1, 2, 6, 16]);
        let young = Interval { age: 0.3, ..interval(300_000.0 / 23.0, 300_000.0, 0.25) };
        let sampling = Control::new().adapted(Sampling { period: FIRST, every: 1 }, young, true).unwrap();
        assert_eq!(sampling, Sampling { period: 601, every: 1 }, "it may end soon");
        for rate in [90_000.0, 300_000.0, 2e6] {
            let all = samplings((0..400).map(|interval| if interval < 200 { rate } else { 20_000.0 }), 0.25);
            assert_eq!(all[399].every, 1, "back again");
            let changes = all.windows(2).filter(|pair| pair[0].every != pair[1].every).count();
            assert!(changes <= 8, "{rate}: {changes}");
            // Rates that vary do not change it at each look.
            let varied = (0..400).map(|interval| rate * if interval % 2 == 0 { 0.8 } else { 1.2 });
            let all = samplings(varied, 0.25);
            assert!(all[50..].windows(2).all(|pair| pair[0] == pair[1]), "{rate}");
        }
    }
}
