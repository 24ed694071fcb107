//! Did the lever change the program's memory calls or page faults?

use figure::evidence::LEVER;
use figure::levers::{self, BASE, Took};

use crate::check::{Answer, Check, Subject, always, measured, page};

/// What the program asked the kernel for in a start of its own (seccomp(2), SECCOMP_RET_USER_NOTIF), against what it asks for without
/// the lever. A variable that is set proves nothing.
pub const CHECK: Check = Check {
    id: levers::TOOK,
    page: page!("setting-effect"),
    applies: |subject| measured(subject) && subject.condition(LEVER).is_some_and(|lever| lever != BASE),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let is_base = |lever: Option<String>| lever.as_deref() == Some(BASE);
    let mut others = subject.record.figures.iter();
    let base = others.find(|figure| figure.value.is_some() && is_base(figure.conditions.get(LEVER)));
    let Some(base) = base else {
        return Answer::unknown("there are no starts without a lever to compare with");
    };
    match levers::took(subject.figure, base) {
        Took::Yes(changed) => Answer::pass(format!("it took: {changed}")),
        Took::Unchanged(what) => Answer::unknown(what),
        Took::No(cause) => Answer::fail(
            format!("it did not take: {cause}"),
            "run the program itself instead of a wrapper; name who manages its memory (--manager)",
        ),
        Took::Unknown(reason) => Answer::unknown(reason),
    }
}
