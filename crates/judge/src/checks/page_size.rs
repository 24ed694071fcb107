//! Do the arrays have the page size that was requested?

use figure::evidence::{PAGES_ASKED, PAGES_HUGE_SHARE, PAGES_SIZE};

use crate::prelude::*;

/// Share of the arrays that is not on huge pages although they were asked for. A tenth moves a figure by less
/// than 2 %, with the 10 to 20 % that huge pages usually bring; with half on small pages the figure is not
/// one of huge pages.
const SMALL: Levels = Levels { warn: 0.10, fail: 0.50 };
/// The same for huge pages where small ones were asked for: they are part of the figure's name.
const HUGE: Levels = SMALL;
/// Bytes of a page of `huge1g`.
const GIGANTIC: f64 = 1073741824.0;

/// AnonHugePages and KernelPageSize of our own range (/proc/self/smaps, proc(5)).
/// By default any page will do; asked for, it is part of the figure's name.
pub const CHECK: Check = Check::new(page!("page-size"), on_arrays, rule)
    .essential_where(|subject| requested(subject) != "default");

fn requested(subject: &Subject) -> String {
    subject.condition(PAGES_ASKED).unwrap_or_else(|| "default".to_owned())
}

fn rule(subject: &Subject) -> Answer {
    let requested = requested(subject);
    let huge = observed!(subject.fact(PAGES_HUGE_SHARE));
    let size = subject.fact(PAGES_SIZE).into_value();
    let pages = |requested| Arrays::Pages { requested, huge: Share(huge), size: size.map(Bytes) };
    match requested.as_str() {
        "default" => Answer::pass(pages(requested)),
        "small" => HUGE.answer(huge, pages(requested)),
        "huge1g" if size.is_some_and(|size| size < GIGANTIC) => Answer::fail(pages(requested)),
        _ => SMALL.answer(1.0 - huge, pages(requested)),
    }
}
