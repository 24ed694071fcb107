//! Compares the CPU time of a profile with that counted by the kernel over the same window.

use super::pprof::CpuProfile;

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
            lost: lost.fold(0, |sum, stack| sum.saturating_add(stack.samples)),
        }
    }

    /// CPUs in use by the profile over those by the kernel. The two windows may differ in length: a request
    /// for a profile takes longer than the profile. `None` if either is missing or 0.
    pub fn ratio(&self) -> Option<f64> {
        let sampled = self.sampled / self.profile_seconds;
        let booked = self.booked / self.booked_seconds;
        Some(sampled / booked).filter(|ratio| ratio.is_finite())
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
            assert_eq!(coverage.lost, 0, "{coverage:?}");
            assert!((coverage.ratio().unwrap() - ratio).abs() < 0.01, "{coverage:?}");
        }
        // Less than 90 %, without samples that Go reports as lost.
        let short = coverage_of(FASTHTTP, 4.455_518, 8.012_536);
        assert!((short.ratio().unwrap() - 0.899_98).abs() < 1e-5 && short.lost == 0, "{short:?}");
    }

    #[test]
    fn lost_samples_are_counted() {
        let mut profile =
            profile(&[("main.f", 98), ("runtime/pprof.lostProfileEvent runtime/pprof.lostProfileEvent", 2)]);
        profile.seconds = 1.0;
        let coverage = Coverage::new(&profile, 1.0, 1.0);
        assert_eq!((coverage.lost, profile.samples()), (2, 100));
    }

    #[test]
    fn windows_may_differ_in_length_and_zero_does_not_compare() {
        let coverage = |sampled, booked| Coverage {
            sampled,
            profile_seconds: 1.0,
            booked,
            booked_seconds: 2.0,
            lost: 0,
        };
        // The kernel's window is twice as long, with twice the CPU time.
        assert_eq!(coverage(1.0, 2.0).ratio(), Some(1.0));
        assert_eq!(coverage(0.5, 2.0).ratio(), Some(0.5));
        for (sampled, booked) in [(0.0, 0.0), (1.0, 0.0), (1.0, f64::NAN)] {
            assert_eq!(coverage(sampled, booked).ratio(), None);
        }
        assert_eq!(coverage(0.0, 2.0).ratio(), Some(0.0), "no sample at all");
    }
}
