//! What time is measured with.

use figure::Outcome::*;
use figure::Reading;
use figure::evidence::*;
use figure::host::Setting;

use crate::build::{Case, quiet_vm};

#[test]
fn samples_are_long_for_the_clock() {
    // One reading costs 25 ns, more than the 20 ns that it resolves.
    let check = "clock-granularity";
    let sample = |ticks: f64| quiet_vm().with(SAMPLE_SHORTEST, ticks * 25e-9);
    assert_eq!(sample(19.5).says(check), Fail);
    assert_eq!(sample(20.5).says(check), Warn);
    assert_eq!(sample(999.0).says(check), Warn);
    assert_eq!(sample(1001.0).says(check), Pass);
    assert_eq!(quiet_vm().in_first(1, SAMPLE_SHORTEST, 400e-9).says(check), Fail, "the shortest decides");
    assert_eq!(quiet_vm().unknown(CLOCK_GRANULARITY, "x").says(check), Unknown);
    assert_eq!(quiet_vm().unknown(SAMPLE_SHORTEST, "x").says(check), Unknown);
}

#[test]
fn a_clocksource_that_the_kernel_fell_back_to() {
    let source = |name: &str| {
        let value = Reading::Value(name.to_owned());
        let setting = Setting { name: "clocksource".into(), value, source: String::new() };
        quiet_vm().machine(|machine| machine.kernel.settings.push(setting))
    };
    for name in ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"] {
        assert_eq!(source(name).says("clock-granularity"), Pass, "{name}");
    }
    for name in ["hpet", "acpi_pm", "jiffies"] {
        assert_eq!(source(name).says("clock-granularity"), Warn, "{name}");
    }
}

#[test]
fn clocks_that_jump() {
    let check = "clock-jump";
    let stepped = |rounds, seconds: f64| -> Case { quiet_vm().in_first(rounds, CLOCK_STEPPED, seconds) };
    assert_eq!(quiet_vm().says(check), Pass);
    assert_eq!(stepped(8, 0.010).says(check), Pass, "slewing");
    assert_eq!(stepped(1, 0.011).says(check), Warn);
    assert_eq!(stepped(1, -0.011).says(check), Warn, "backwards");
    assert_eq!(stepped(2, 0.011).says(check), Fail);
    assert_eq!(quiet_vm().in_first(1, CLOCK_SUSPENDED, 30.0).says(check), Warn);
    assert_eq!(quiet_vm().unknown(CLOCK_SUSPENDED, "x").says(check), Unknown);
    assert_eq!(quiet_vm().unknown(CLOCK_STEPPED, "x").says(check), Unknown);
}
