//! The effective locale of a program: setlocale(3) with a missing locale has no effect, and the program stays
//! in "C", where sort and grep are faster.

use std::ffi::{CStr, CString};

use figure::format::plain_to;

/// Categories of POSIX. If one of them is missing, setlocale(LC_ALL, "") fails for all.
const CATEGORIES: [(&str, i32); 6] = [
    ("LC_COLLATE", libc::LC_COLLATE_MASK),
    ("LC_CTYPE", libc::LC_CTYPE_MASK),
    ("LC_MESSAGES", libc::LC_MESSAGES_MASK),
    ("LC_MONETARY", libc::LC_MONETARY_MASK),
    ("LC_NUMERIC", libc::LC_NUMERIC_MASK),
    ("LC_TIME", libc::LC_TIME_MASK),
];
/// Characters of a locale's name that are recorded.
const MAX_NAME: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locale {
    /// Its name, and why it is "C" if another was requested.
    pub collate: String,
    pub charmap: Option<String>,
}

/// The effective locale of a program with this process's environment and this LANG.
pub fn effective(language: &str) -> Locale {
    let variable = |name: &str| match name {
        "LANG" => Some(language.to_owned()),
        _ => std::env::var(name).ok(),
    };
    decide(variable, charmap)
}

/// `variable` returns an environment variable, `load` the character set of a locale in a category, if it
/// exists.
fn decide(variable: impl Fn(&str) -> Option<String>, load: impl Fn(&str, i32) -> Option<String>) -> Locale {
    let names = CATEGORIES.map(|(category, mask)| (name(&variable, category), mask));
    let missing = names.iter().find(|(name, mask)| load(name, *mask).is_none());
    let [(collate, _), (ctype, mask), ..] = &names;
    match missing {
        Some((missing, _)) => Locale {
            collate: format!("C (there is no {})", plain_to(missing, MAX_NAME)),
            charmap: load("C", *mask),
        },
        None => Locale { collate: plain_to(collate, MAX_NAME), charmap: load(ctype, *mask) },
    }
}

/// The requested locale in a category (POSIX, 8.2).
fn name(variable: impl Fn(&str) -> Option<String>, category: &str) -> String {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    set("LC_ALL").or_else(|| set(category)).or_else(|| set("LANG")).unwrap_or_else(|| "C".to_owned())
}

fn charmap(name: &str, mask: i32) -> Option<String> {
    let name = CString::new(name).ok()?;
    // SAFETY: the string outlives the call, and no locale is changed.
    let locale = unsafe { libc::newlocale(mask, name.as_ptr(), std::ptr::null_mut()) };
    if locale.is_null() {
        return None;
    }
    // SAFETY: the locale is valid, and the string is copied before it is freed.
    unsafe {
        let text = CStr::from_ptr(libc::nl_langinfo_l(libc::CODESET, locale)).to_string_lossy().into_owned();
        libc::freelocale(locale);
        Some(text)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn decide_with(variables: &[(&str, &str)], installed: &[&str]) -> (String, Option<String>) {
        let variable = |name: &str| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
        };
        let load = |name: &str, _: i32| {
            let set = if name == "C" { "ANSI_X3.4-1968" } else { "UTF-8" };
            (name == "C" || installed.contains(&name)).then(|| set.to_owned())
        };
        let locale = decide(variable, load);
        (locale.collate, locale.charmap)
    }

    #[test]
    fn a_missing_locale_leaves_c() {
        let (utf8, ascii) = (Some("UTF-8".to_owned()), Some("ANSI_X3.4-1968".to_owned()));
        let us = "en_US.utf8";
        assert_eq!(decide_with(&[("LANG", us)], &[us]), (us.to_owned(), utf8.clone()));
        let missing = "C (there is no en_US.utf8)".to_owned();
        assert_eq!(decide_with(&[("LANG", us)], &[]), (missing, ascii.clone()));
        assert_eq!(decide_with(&[("LANG", us), ("LC_ALL", "C")], &[us]), ("C".to_owned(), ascii.clone()));
        assert_eq!(
            decide_with(&[("LANG", us), ("LC_ALL", ""), ("LC_COLLATE", "C")], &[us]),
            ("C".to_owned(), utf8)
        );
        // One missing category makes all "C".
        let one_missing = decide_with(&[("LANG", us), ("LC_TIME", "xx_YY")], &[us]);
        assert_eq!(one_missing, ("C (there is no xx_YY)".to_owned(), ascii));
        assert_eq!(decide_with(&[], &[]).0, "C");
    }

    #[test]
    fn the_library_knows_c() {
        assert!(charmap("C", libc::LC_CTYPE_MASK).is_some_and(|set| !set.is_empty()));
        if cfg!(target_env = "gnu") {
            assert_eq!(charmap("xx_YY.nothing", libc::LC_COLLATE_MASK), None);
        }
    }
}
