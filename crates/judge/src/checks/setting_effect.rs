//! Did the setting change the program's memory calls or page faults?

use figure::evidence::SETTING;
use suites::settings::{self, BASE, Took};

use crate::prelude::*;

/// What the program asked the kernel for in a start of its own (seccomp(2), SECCOMP_RET_USER_NOTIF), against what it asks for without
/// the setting. A variable that is set proves nothing.
pub const CHECK: Check = Check::essential(
    page!("setting-effect"),
    |subject| measured(subject) && subject.condition(SETTING).is_some_and(|setting| setting != BASE),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let is_base = |setting: Option<String>| setting.as_deref() == Some(BASE);
    let mut others = subject.record.figures.iter();
    let base = others.find(|figure| figure.value.is_some() && is_base(figure.conditions.get(SETTING)));
    let Some(base) = base else {
        return Answer::unknown("there are no starts without a setting to compare with");
    };
    match settings::took(subject.figure, base) {
        Took::Yes(change) => Answer::pass(Rounds::SettingTook { change }),
        Took::No(cause) => Answer::fail(Rounds::SettingIgnored { cause }),
        Took::Unchanged(reason) | Took::Unknown(reason) => Answer::unknown(reason),
    }
}
