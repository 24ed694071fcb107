//! The description of a load: sizes, number and lifetimes of its blocks.

use std::fmt::Display;

use lab::failure::{Attempt, Failure};
use workload::alloc_load::choice::FEWEST;
use workload::alloc_load::parameters::{CLASSES, Class, Distribution};
use workload::alloc_load::sizes::EXPONENTS;

pub const SLOT_BYTES: f64 = 16.0;

/// A load, independent of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name of a known profile, or the file that it was read from.
    pub name: String,
    pub distribution: Distribution,
    /// Slots of all threads together.
    pub slots: u64,
    /// Largest block: for [`Distribution::Pareto`] the exponent of 2, else bytes.
    pub largest: u32,
    /// Steps of each thread.
    pub steps: u64,
    /// Seed of the first thread.
    pub seed: u64,
    /// For [`Distribution::Classes`]: each with its slots of all threads together.
    pub classes: Vec<Class>,
}

/// alloc-test with its authors' values: slots, exponent, steps. The seed is mimalloc-bench's: with theirs, 0,
/// all numbers are 0.
const ITHARE: (u64, u32, u64) = (1 << 25, 16, 100_000_000);
/// alloc-test with the values of mimalloc-bench.
const MIMALLOC_BENCH: (u64, u32, u64) = (1 << 18, 10, 100_000_000);
const SEED: u64 = 41;
/// t-test1's largest block.
const UNIFORM_LARGEST: u32 = 10_000;

pub const KNOWN: [&str; 3] = ["ithare", "mimalloc-bench", "uniform"];

impl Profile {
    pub fn named(name: &str) -> Option<Profile> {
        let pareto = |(slots, exponent, steps)| Profile {
            name: name.to_owned(),
            distribution: Distribution::Pareto,
            slots,
            largest: exponent,
            steps,
            seed: SEED,
            classes: Vec::new(),
        };
        match name {
            "ithare" => Some(pareto(ITHARE)),
            "mimalloc-bench" => Some(pareto(MIMALLOC_BENCH)),
            // As many bytes as ithare, in fewer and larger blocks.
            "uniform" => {
                let ithare = pareto(ITHARE);
                let distribution = Distribution::Uniform;
                let uniform = Profile { distribution, largest: UNIFORM_LARGEST, ..ithare.clone() };
                let slots = ithare.slots as f64 * ithare.mean() / uniform.mean();
                Some(Profile { slots: slots as u64, ..uniform })
            }
            _ => None,
        }
    }

    /// Parses the histogram of a program: rows of `size,rate,lifetime` below a header. A size is a number of
    /// bytes or a range (`17-32`), a rate is allocations per second, a lifetime is the mean in seconds. By
    /// Little's law `rate x lifetime` blocks are live at any time.
    pub fn of_histogram(name: &str, text: &str) -> Result<Profile, Failure> {
        let rows = rows(text)?;
        let rate: f64 = rows.iter().map(|row| row.rate).sum();
        let live: f64 = rows.iter().map(|row| row.rate * row.lifetime).sum();
        let (mut classes, mut below) = (Vec::new(), 0.0);
        for row in &rows {
            below += row.rate / rate;
            let slots = (2.0 * row.rate * row.lifetime).round().max(1.0);
            if slots > f64::from(u32::MAX) {
                return Err(wrong(row.line, format!("{} blocks live at a time are too many", slots / 2.0)));
            }
            classes.push(Class {
                below: (below * f64::from(u32::MAX)) as u32,
                smallest: row.sizes.0,
                largest: row.sizes.1,
                slots: slots as u32,
            });
        }
        let slots = classes.iter().map(|class| u64::from(class.slots)).sum();
        Ok(Profile {
            name: name.to_owned(),
            distribution: Distribution::Classes,
            slots,
            largest: classes.iter().map(|class| class.largest).max().unwrap_or(1),
            // Each block is replaced about 16 times.
            steps: ((live * 2.0 * 16.0) as u64).max(1_000_000),
            seed: SEED,
            classes,
        })
    }

    /// Mean size of the live blocks, in bytes.
    pub fn mean(&self) -> f64 {
        match self.distribution {
            // Each class but the last adds (2^(k+2) + 2^(k+3) + 1) / 2 x 2^-(k+1), the last as much again.
            Distribution::Pareto => {
                let last = self.largest as i32 - 3;
                let mean = |k: i32| (2f64.powi(k + 2) + 2f64.powi(k + 3) + 1.0) / 2.0;
                (0..last).map(|k| mean(k) * 2f64.powi(-(k + 1))).sum::<f64>() + mean(last) * 2f64.powi(-last)
            }
            Distribution::Uniform => (f64::from(self.largest) + 1.0) / 2.0,
            Distribution::Classes => {
                let mean = |class: &Class| (f64::from(class.smallest) + f64::from(class.largest)) / 2.0;
                let bytes: f64 = self.classes.iter().map(|class| mean(class) * f64::from(class.slots)).sum();
                bytes / self.slots as f64
            }
        }
    }

    /// Live bytes after setup: half of the slots are full.
    pub fn live(&self) -> f64 {
        self.slots as f64 / 2.0 * self.mean()
    }

    /// Bytes of the slots and the blocks, without any overhead.
    pub fn bytes(&self) -> f64 {
        self.slots as f64 * SLOT_BYTES + self.live()
    }

    /// The same load with this many slots. The steps are scaled too, so that each slot is chosen as often.
    pub fn with_slots(&self, slots: u64) -> Profile {
        let factor = slots as f64 / self.slots as f64;
        let scaled = |number: u64| ((number as f64 * factor).round() as u64).max(1);
        let class_slots = |class: &Class| scaled(class.slots.into()).min(u32::MAX.into()) as u32;
        let classes: Vec<Class> =
            self.classes.iter().map(|class| Class { slots: class_slots(class), ..*class }).collect();
        let slots = match self.distribution {
            Distribution::Classes => classes.iter().map(|class| u64::from(class.slots)).sum(),
            _ => slots.max(1),
        };
        Profile { slots, steps: scaled(self.steps), classes, ..self.clone() }
    }

    /// The same load with blocks of at most this many bytes: a power of two for [`Distribution::Pareto`].
    pub fn with_largest(&self, bytes: f64) -> Result<Profile, Failure> {
        let largest = match self.distribution {
            Distribution::Pareto => {
                let exponent = bytes.log2().round();
                let is_valid = 2f64.powf(exponent) == bytes && EXPONENTS.contains(&(exponent as u32));
                is_valid
                    .then_some(exponent as u32)
                    .ok_or_else(|| Failure::new("give a power of two from 8 to 2GiB, as classes double"))?
            }
            Distribution::Uniform if bytes <= f64::from(1u32 << 31) => bytes as u32,
            Distribution::Uniform => return Err(Failure::new("give at most 2GiB")),
            Distribution::Classes => return Err(Failure::new("a histogram has its own sizes")),
        };
        Ok(Profile { largest, ..self.clone() })
    }

    /// The same load in about this many bytes, larger or smaller.
    pub fn in_about(&self, bytes: f64) -> Profile {
        self.with_slots((self.slots as f64 * bytes / self.bytes()).round() as u64)
    }

    /// The same load in at most about this many bytes, never larger than it is.
    pub fn within(&self, bytes: f64) -> Profile {
        if self.bytes() <= bytes {
            return self.clone();
        }
        let slots = (self.slots as f64 * bytes / self.bytes()) as u64;
        // A power of two, as in both originals: runs of different sizes differ by known factors.
        let is_rounded = self.distribution != Distribution::Classes;
        let slots = if is_rounded { 1 << slots.max(1).ilog2() } else { slots };
        self.with_slots(slots)
    }

    /// Slots and classes of each thread.
    pub fn of_thread(&self, threads: u32) -> Result<(u32, Vec<Class>), Failure> {
        let each = self.slots / u64::from(threads.max(1));
        let least = if self.distribution == Distribution::Pareto { u64::from(FEWEST) } else { 1 };
        if each < least {
            return Err(Failure::new(format!("{} slots are too few for {threads} threads", self.slots))
                .answer(format!("at least {least} for each (--slots {})", least * u64::from(threads))));
        }
        let each = u32::try_from(each).map_err(|_| {
            Failure::new(format!("{} slots are too many (at most 2^32 a thread)", self.slots))
        })?;
        let share = |class: &Class| Class { slots: (class.slots / threads.max(1)).max(1), ..*class };
        let classes: Vec<Class> = self.classes.iter().map(share).collect();
        let slots = if classes.is_empty() { each } else { classes.iter().map(|class| class.slots).sum() };
        Ok((slots, classes))
    }
}

struct Row {
    line: u64,
    sizes: (u32, u32),
    rate: f64,
    lifetime: f64,
}

fn wrong(line: u64, answer: impl Display) -> Failure {
    Failure::new("line").on(line).answer(answer)
}

fn rows(text: &str) -> Result<Vec<Row>, Failure> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let names = reader.headers().attempt("cannot read the histogram")?.clone();
    let column = |name: &str| {
        let index = names.iter().position(|column| column.eq_ignore_ascii_case(name));
        index.ok_or_else(|| {
            wrong(1, format!("no column '{name}'")).advice("there must be size, rate, lifetime")
        })
    };
    let (size, rate, lifetime) = (column("size")?, column("rate")?, column("lifetime")?);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.attempt("cannot read the histogram")?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |column: usize| record.get(column).unwrap_or("");
        let number = |name: &str, column: usize| {
            let value = field(column).parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
            value.ok_or_else(|| wrong(line, format!("{name} '{}' is no number above 0", field(column))))
        };
        let sizes = parse_sizes(field(size)).ok_or_else(|| {
            wrong(line, format!("size '{}' is neither bytes nor a range such as 17-32", field(size)))
        })?;
        rows.push(Row { line, sizes, rate: number("rate", rate)?, lifetime: number("lifetime", lifetime)? });
    }
    match rows.len() {
        0 => Err(Failure::new("no rows")),
        count if count >= CLASSES => {
            Err(Failure::new(format!("{count} rows are too many")).answer(format!("at most {}", CLASSES - 1)))
        }
        _ => Ok(rows),
    }
}

fn parse_sizes(text: &str) -> Option<(u32, u32)> {
    let (smallest, largest) = text.split_once('-').unwrap_or((text, text));
    let bytes = |text: &str| text.trim().parse::<u32>().ok().filter(|bytes| (1..=1 << 31).contains(bytes));
    let (smallest, largest) = (bytes(smallest)?, bytes(largest)?);
    (smallest <= largest).then_some((smallest, largest))
}

#[cfg(test)]
mod unit {
    use super::*;

    fn known(name: &str) -> Profile {
        Profile::named(name).unwrap()
    }

    #[test]
    fn means_and_live_bytes_are_those_of_the_originals() {
        let (ithare, small) = (known("ithare"), known("mimalloc-bench"));
        assert!(
            (ithare.mean() - 45.5).abs() < 0.05 && (small.mean() - 27.5).abs() < 0.05,
            "{}",
            ithare.mean()
        );
        assert!((ithare.live() / 763e6 - 1.0).abs() < 0.01, "{}", ithare.live());
        assert!((small.live() / 3.6e6 - 1.0).abs() < 0.01, "{}", small.live());
        // The uniform profile has as many bytes, in other blocks.
        assert!((known("uniform").live() / ithare.live() - 1.0).abs() < 0.01);
        assert!(KNOWN.iter().all(|name| Profile::named(name).is_some()) && Profile::named("x").is_none());
    }

    #[test]
    fn a_load_that_is_scaled_chooses_each_slot_as_often() {
        let whole = known("ithare");
        let scaled = whole.within(100e6);
        assert!(scaled.bytes() <= 100e6 && scaled.slots.is_power_of_two(), "{scaled:?}");
        let steps_per_slot = |profile: &Profile| profile.steps as f64 / profile.slots as f64;
        assert!((steps_per_slot(&scaled) / steps_per_slot(&whole) - 1.0).abs() < 1e-3);
        assert_eq!(whole.within(1e12), whole);
    }

    #[test]
    fn threads_share_the_slots() {
        let profile = known("mimalloc-bench");
        assert_eq!(profile.of_thread(2).unwrap().0, 1 << 17);
        // Upstream divides by zero here.
        let error = profile.of_thread(17).unwrap_err().to_string();
        assert!(error.contains("at least 15625"), "{error}");
    }

    #[test]
    fn a_histogram_has_as_many_live_blocks_as_the_program() {
        let text = "# of some server\nsize, rate, lifetime\n16,1000,0.1\n17-32,3000,0.5\n4096,10,60\n";
        let profile = Profile::of_histogram("server.csv", text).unwrap();
        let slots: Vec<u32> = profile.classes.iter().map(|class| class.slots).collect();
        assert_eq!(slots, [200, 3000, 1200], "twice what is live");
        let below: Vec<f64> =
            profile.classes.iter().map(|class| f64::from(class.below) / f64::from(u32::MAX)).collect();
        let expected = [1000.0 / 4010.0, 4000.0 / 4010.0, 1.0];
        for (actual, expected) in below.iter().zip(expected) {
            assert!((actual - expected).abs() < 1e-6, "{below:?}");
        }
        assert_eq!((profile.classes[1].smallest, profile.classes[1].largest), (17, 32));
        assert!((profile.live() - (100.0 * 16.0 + 1500.0 * 24.5 + 600.0 * 4096.0)).abs() < 1.0);
    }

    #[test]
    fn errors_in_a_histogram_name_the_line() {
        let error = |text| Profile::of_histogram("x", text).unwrap_err().to_string();
        assert!(error("size,rate\n1,2\n").contains("no column 'lifetime'"));
        assert!(error("size,rate,lifetime\n1,2,3\nx,2,3\n").starts_with("line 3: size 'x'"));
        assert!(error("size,rate,lifetime\n32-17,2,3\n").contains("range"));
        assert!(error("size,rate,lifetime\n1,-2,3\n").contains("rate '-2'"));
        assert!(error("size,rate,lifetime\n").contains("no rows"));
    }
}
