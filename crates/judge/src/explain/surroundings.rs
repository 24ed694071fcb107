//! What besides the machine a test's figure rests on: libraries, programs, locale.

use figure::evidence::{
    CELL_BYTES, CELL_LIBRARIES, CELL_LINKAGE, COPIES, COPY_RESIDENT, LIBC, LIBC_STRCMP, LOCALE_CHARMAP,
    LOCALE_COLLATE, SHELL, TEST_CLASS,
};
use figure::format;

use super::Rule;
use crate::cases::Case;
use crate::check::Subject;

/// Tests of a class, and what is said of them.
pub(super) const RULE: Rule = Rule { name: "surroundings", says: |subject| says(subject).map(Case::Text) };

/// Locales in which strings are compared byte by byte; so they are in UTF-8 without a language, since glibc 2.35 (its NEWS).
const BYTEWISE: &[&str] = &["C", "POSIX", "C.UTF-8", "C.utf8"];

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    figure.conditions.get(COPIES)?;
    let evidence = &figure.evidence;
    match figure.conditions.get(TEST_CLASS)?.as_str() {
        "compute" => {
            let libc = evidence.get(LIBC).into_value()?;
            let strcmp = evidence
                .get(LIBC_STRCMP)
                .into_value()
                .map_or(String::new(), |at| format!(" (strcmp at {at})"));
            Some(format!(
                "String and mathematical functions are those of {libc}{strcmp}: another libc gives another figure."
            ))
        }
        "process" => {
            let bytes = evidence.get(CELL_BYTES).into_value()?;
            let linkage = evidence.get(CELL_LINKAGE).into_value()?;
            let libraries = evidence.get(CELL_LIBRARIES).into_value()?;
            let resident =
                match figure.over_rounds(COPY_RESIDENT).into_value().and_then(|all| all.first().copied()) {
                    Some(bytes) => format!(", {} resident", format::bytes(bytes)),
                    None => String::new(),
                };
            Some(format!(
                "What is forked or executed is a {linkage} program of {} with {libraries} needed librar{}{resident}: a larger one costs more.",
                format::bytes(bytes),
                if libraries == 1.0 { "y" } else { "ies" },
            ))
        }
        "shell" => {
            let shell = evidence.get(SHELL).into_value()?;
            let collate = evidence.get(LOCALE_COLLATE).into_value()?;
            let charmap = evidence.get(LOCALE_CHARMAP).into_value();
            let charmap = charmap.map_or(String::new(), |charmap| format!(", {charmap}"));
            // `C (there is no en_US.utf8)`.
            let name = collate.split(' ').next().unwrap_or_default();
            let cost = if BYTEWISE.contains(&name) {
                "byte by byte, which is cheaper than the collation of a language"
            } else {
                "by the collation of a language, which is dearer than byte by byte"
            };
            Some(format!(
                "Under {}, sort and grep compare in the locale {collate}{charmap}: {cost}.",
                format::plain_to(&shell, 80)
            ))
        }
        _ => None,
    }
}
