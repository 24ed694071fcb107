//! What a test's figure rests on apart from the machine: libraries, programs, locale.

use figure::evidence::{
    CELL_BYTES, CELL_LIBRARIES, CELL_LINKAGE, COPIES, LIBC, LIBC_STRCMP, LOCALE_COLLATE, SHELL, TEST_CLASS,
};
use figure::format;

use super::Rule;
use crate::cases::{Case, Topology};
use crate::check::Subject;
use crate::values::{Bytes, Counted};

pub(super) const RULE: Rule = Rule { name: "surroundings", says };

/// Locales in which strings are compared byte by byte; so they are in UTF-8 without a language, since glibc 2.35 (its NEWS).
const BYTEWISE: &[&str] = &["C", "POSIX", "C.UTF-8", "C.utf8"];

fn says(subject: &Subject) -> Option<Case> {
    let figure = subject.figure;
    figure.conditions.get(COPIES)?;
    let evidence = &figure.evidence;
    let case = match figure.conditions.get(TEST_CLASS)?.as_str() {
        "compute" => Topology::CLibrary {
            library: evidence.get(LIBC).into_value()?,
            strcmp: evidence.get(LIBC_STRCMP).into_value(),
        },
        "process" => Topology::ProgramImage {
            linkage: evidence.get(CELL_LINKAGE).into_value()?,
            size: Bytes(evidence.get(CELL_BYTES).into_value()?),
            libraries: Counted(evidence.get(CELL_LIBRARIES).into_value()?, "shared object"),
        },
        "shell" => {
            let shell = format::plain_to(&evidence.get(SHELL).into_value()?, 80);
            let locale = evidence.get(LOCALE_COLLATE).into_value()?;
            // `C (there is no en_US.utf8)`.
            let is_bytewise = BYTEWISE.contains(&locale.split(' ').next().unwrap_or_default());
            is_bytewise.then_some(Topology::BytewiseOrder { locale, shell })?
        }
        _ => return None,
    };
    Some(case.into())
}
