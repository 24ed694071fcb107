//! Compares the CPU time of a profile with that counted by the kernel over the same window.

use super::pprof::CpuProfile;

/// Largest deviation from the kernel's CPU time, as a share of it.
pub const TOLERANCE: f64 = 0.10;

/// Frames that Go writes for samples that it lost.
const LOST: &[&str] =
    &["runtime/pprof.lostProfileEvent", "runtime._LostSIGPROFDuringAtomic64", "runtime._LostExternalCode"];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// CPU seconds of all samples.
    pub sampled: f64,
    /// Length of the profile in seconds.
    pub profile_seconds: f64,
    /// CPU seconds from the kernel, user and system.
    pub booked: f64,
    /// Length of the kernel's window in seconds.
    pub booked_seconds: f64,
    pub samples: u64,
    /// Samples that Go reports as lost.
    pub lost: u64,
}

impl Coverage {
    /// `booked` is utime plus stime of /proc/PID/stat over `booked_seconds`, in seconds.
    pub fn new(profile: &CpuProfile, booked: f64, booked_seconds: f64) -> Coverage {
        let is_lost = |frame: &u32| LOST.contains(&profile.name(*frame));
        let lost = profile.stacks().filter(|stack| stack.frames.iter().any(is_lost));
        Coverage {
            sampled: profile.cpu(),
            profile_seconds: profile.seconds,
            booked,
            booked_seconds,
            samples: profile.samples(),
            lost: lost.fold(0, |all, stack| all.saturating_add(stack.samples)),
        }
    }

    /// CPUs in use by the profile over those by the kernel. The two windows may differ in length: a request
    /// for a profile takes longer than the profile. `None` if either is missing or 0.
    pub fn ratio(&self) -> Option<f64> {
        let sampled = self.sampled / self.profile_seconds;
        let booked = self.booked / self.booked_seconds;
        Some(sampled / booked).filter(|ratio| ratio.is_finite())
    }

    /// Why the profile does not cover the server's CPU time, if so.
    pub fn complaint(&self) -> Option<String> {
        if self.lost > 0 {
            return Some(format!("Go lost {} of {} samples", self.lost, self.samples));
        }
        match self.ratio() {
            None => Some(format!(
                "{:.2} s of CPU time in {:.2} s of profile, {:.2} s in {:.2} s of /proc: nothing to compare",
                self.sampled, self.profile_seconds, self.booked, self.booked_seconds
            )),
            Some(ratio) if (ratio - 1.0).abs() > TOLERANCE => Some(format!(
                "the profile holds {:.1} % of the CPU time that the kernel booked; it must be within {:.0} %",
                ratio * 100.0,
                TOLERANCE * 100.0
            )),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod unit {
    use super::super::pprof::unit::{FASTHTTP, GC, GNET, NETHTTP, profile};
    use super::*;

    #[test]
    fn recorded_profiles_cover_the_kernels_cpu_time() {
        // CPU and window in seconds: see the README of the recorded profiles.
        let coverage_of =
            |bytes, booked, seconds| Coverage::new(&CpuProfile::read(bytes).unwrap(), booked, seconds);
        for (bytes, booked, seconds, ratio) in [
            (NETHTTP, 8.691_059, 8.0, 0.95),
            (GNET, 5.091_18, 8.003_138, 0.94),
            (GC, 7.884_598, 8.000_358, 0.97),
        ] {
            let coverage = coverage_of(bytes, booked, seconds);
            assert_eq!((coverage.complaint(), coverage.lost), (None, 0), "{coverage:?}");
            assert!((coverage.ratio().unwrap() - ratio).abs() < 0.01, "{coverage:?}");
        }
        // Just below the bound, without samples that Go reports as lost.
        let short = coverage_of(FASTHTTP, 4.455_518, 8.012_536);
        assert!((short.ratio().unwrap() - 0.899_98).abs() < 1e-5 && short.lost == 0, "{short:?}");
        assert!(short.complaint().unwrap().contains("must be within 10 %"));
    }

    #[test]
    fn lost_samples_are_a_complaint() {
        let mut profile =
            profile(&[("main.f", 98), ("runtime/pprof.lostProfileEvent runtime/pprof.lostProfileEvent", 2)]);
        profile.seconds = 1.0;
        let coverage = Coverage::new(&profile, 1.0, 1.0);
        assert_eq!(coverage.complaint().as_deref(), Some("Go lost 2 of 100 samples"));
    }

    #[test]
    fn the_bound_is_ten_per_cent_and_zero_does_not_compare() {
        let coverage = |sampled, booked| Coverage {
            sampled,
            profile_seconds: 1.0,
            booked,
            booked_seconds: 2.0,
            samples: 100,
            lost: 0,
        };
        // The kernel's window is twice as long, with twice the CPU time.
        assert_eq!(coverage(0.91, 2.0).complaint(), None);
        assert_eq!(coverage(1.09, 2.0).complaint(), None);
        assert!(coverage(0.89, 2.0).complaint().is_some() && coverage(1.11, 2.0).complaint().is_some());
        for (sampled, booked) in [(0.0, 0.0), (1.0, 0.0), (1.0, f64::NAN)] {
            assert!(coverage(sampled, booked).complaint().unwrap().contains("nothing to compare"));
        }
        assert!(coverage(0.0, 2.0).complaint().is_some(), "no sample at all");
    }
}
