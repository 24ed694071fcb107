//! Do the arrays have the page size that was requested?

use figure::evidence::{PAGES_ASKED, PAGES_HUGE_SHARE, PAGES_SIZE};
use figure::format;

use crate::check::{Answer, Check, Levels, Subject, observed, on_arrays, page};

/// Share of the arrays that is not on huge pages although they were asked for. A tenth moves a figure by less
/// than 2 %, with the 10 to 20 % that huge pages usually bring; with half on small pages the figure is not
/// one of huge pages.
const SMALL: Levels = Levels { warn: 0.10, fail: 0.50 };
/// The same for huge pages where small ones were asked for: they are part of the figure's name.
const HUGE: Levels = SMALL;
/// Bytes of a page of `huge1g`.
const GIGANTIC: f64 = 1073741824.0;

/// AnonHugePages and KernelPageSize of our own range (/proc/self/smaps, proc(5)).
pub const CHECK: Check = Check {
    id: "page-size",
    page: page!("page-size"),
    applies: on_arrays,
    // By default any page will do; asked for, it is part of the figure's name.
    essential: |subject| asked(subject) != "default",
    rule,
};

fn asked(subject: &Subject) -> String {
    subject.condition(PAGES_ASKED).unwrap_or_else(|| "default".to_owned())
}

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let asked = asked(subject);
    let huge = observed!(evidence.get(PAGES_HUGE_SHARE));
    let size = evidence.get(PAGES_SIZE).into_value();
    let mut detail =
        format!("pages asked for: {asked}; {} of the arrays is on huge pages", format::percent(huge));
    if let Some(size) = size {
        detail += &format!(", the kernel's page size is {}", format::bytes(size));
    }
    match asked.as_str() {
        "default" => Answer::pass(detail),
        "small" => HUGE.answer(
            huge,
            detail,
            "the kernel gave huge pages where small ones were asked for (MADV_NOHUGEPAGE): report the record as a defect",
        ),
        "huge1g" if size.is_some_and(|size| size < GIGANTIC) => Answer::fail(detail, fix(&asked)),
        _ => SMALL.answer(1.0 - huge, detail, fix(&asked)),
    }
}

fn fix(asked: &str) -> &'static str {
    match asked {
        "huge1g" => {
            "reserve pages (as root): echo N > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
        }
        "huge2m" => {
            "reserve pages (as root): echo N > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
        }
        _ => {
            "allow and defragment huge pages (as root): echo madvise > \
             /sys/kernel/mm/transparent_hugepage/enabled; echo 1 > /proc/sys/vm/compact_memory"
        }
    }
}
