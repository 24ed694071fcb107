//! What time is measured with.

use figure::Outcome::*;
use figure::Unit;
use figure::evidence::*;

use crate::build::{Case, at, quiet_vm, setting};
use crate::form;

#[test]
fn samples_are_long_for_the_clock() {
    // One reading costs 25 ns, more than the 20 ns that it resolves.
    let check = "clock-granularity";
    let sample = |ticks: f64| quiet_vm().with(SAMPLE_SHORTEST, ticks * 25e-9);
    at(check, sample, [19.5, 20.5, 999.0, 1001.0], [Fail, Warn, Warn, Pass]);
    assert_eq!(quiet_vm().in_first(1, SAMPLE_SHORTEST, 400e-9).says(check), Fail, "the shortest decides");
    assert_eq!(quiet_vm().unknown(CLOCK_GRANULARITY, "x").says(check), Unknown);
    assert_eq!(quiet_vm().unknown(SAMPLE_SHORTEST, "x").says(check), Unknown);
}

#[test]
fn a_clocksource_that_the_kernel_fell_back_to() {
    for (names, outcome) in [
        (&["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"][..], Pass),
        (&["hpet", "acpi_pm", "jiffies"], Warn),
    ] {
        for name in names {
            let case =
                quiet_vm().machine(|machine| machine.kernel.settings.push(setting("clocksource", name)));
            assert_eq!(case.says("clock-granularity"), outcome, "{name}");
        }
    }
}

#[test]
fn clocks_that_jump() {
    let check = "clock-jump";
    let stepped = |rounds, seconds: f64| -> Case { quiet_vm().in_first(rounds, CLOCK_STEPPED, seconds) };
    // 10 ms are slewing.
    at(check, |seconds| stepped(8, seconds), [0.0, 0.010, 0.011], [Pass, Pass, Fail]);
    at(check, |seconds| stepped(1, seconds), [0.011, -0.011], [Warn, Warn]);
    assert_eq!(stepped(2, 0.011).says(check), Fail);
    assert_eq!(quiet_vm().in_first(1, CLOCK_SUSPENDED, 30.0).says(check), Warn);
    assert_eq!(quiet_vm().unknown(CLOCK_SUSPENDED, "x").says(check), Unknown);
    assert_eq!(quiet_vm().unknown(CLOCK_STEPPED, "x").says(check), Unknown);
}

#[test]
fn times_are_printed_in_the_units_of_the_field() {
    let detail = quiet_vm().with(SAMPLE_SHORTEST, 1e-6).answer("clock-granularity").unwrap().detail;
    assert!(detail.starts_with("the shortest sample lasted 1.00 µs, 40 x"), "{detail}");
    let mut latency = quiet_vm();
    latency.figure().unit = Unit::of("µs");
    let detail = latency.answer("rounds-agree").unwrap().detail;
    assert!(detail.ends_with(" µs)"), "{detail}");
    for answer in
        form::situations().iter().flat_map(|case| judge::all().filter_map(|check| case.answer(check.id)))
    {
        let mut words = answer.detail.split(|c: char| !c.is_alphanumeric());
        assert!(!words.any(|word| ["us", "usec", "microseconds"].contains(&word)), "{answer:?}");
    }
}
