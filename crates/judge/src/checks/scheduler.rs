//! Did the kernel's built-in scheduler place the tasks?

use crate::prelude::*;

/// Settings of the machine: whether a scheduler was loaded at run time, and which.
const STATE: &str = "sched_ext";
const NAME: &str = "sched_ext_ops";
/// What the reason for a missing file contains.
const MISSING: &str = "no such file";

/// sched_ext (Documentation/scheduler/sched-ext.rst) replaces the fair class by a BPF program: where woken tasks go is its choice then.
pub const CHECK: Check = Check::new(
    page!("scheduler"),
    |subject| measured(subject) && (several_tasks(subject) || hops(subject)),
    rule,
);

/// Whether /sys/kernel is there at all: other settings were read from it.
fn shows_settings(subject: &Subject) -> bool {
    let mut settings = subject.machine().kernel.settings.iter();
    settings.any(|setting| setting.source.starts_with("/sys/kernel/") && setting.value.value().is_some())
}

fn rule(subject: &Subject) -> Answer {
    let kernel = &subject.machine().kernel;
    let setting = |name| kernel.setting(name).map(|setting| &setting.value);
    let release = kernel.release.value();
    let kernel = release.map_or("Linux".to_owned(), |release| format!("Linux {release}"));
    match setting(STATE) {
        Some(Reading::Unknown(reason)) if !(reason.contains(MISSING) && shows_settings(subject)) => {
            Answer::unknown(format!("whether a scheduler was loaded at run time is not known: {reason}"))
        }
        Some(Reading::Value(state)) if state != "disabled" => {
            let name = setting(NAME).and_then(Reading::value).map_or("one without a name", String::as_str);
            let scheduler = figure::format::plain_to(name, 60);
            Answer::warn(Cpus::LoadedScheduler { kernel, state: state.clone(), scheduler })
        }
        // A kernel without the file has no such schedulers.
        None | Some(_) => Answer::pass(Cpus::BuiltInScheduler { kernel }),
    }
}
