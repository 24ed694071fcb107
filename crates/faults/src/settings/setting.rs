//! What a setting is: variables by version, and code.

use figure::Conditions;
use figure::evidence::{SETTING_ABOUT, SETTING_BOUNDED, SETTING_CODE, SETTING_ENVIRONMENT, SETTING_PRICE};
use suites::faults::{Manager, Mechanism};

pub type Version = (u32, u32);
pub(super) const NEVER: Version = (u32::MAX, u32::MAX);

/// Of jemalloc: what the names of its variables may begin with.
pub const PREFIXES: &[&str] = &["", "_RJEM_", "JE_"];

/// A memory manager as it was built into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    pub manager: Manager,
    /// `None` if it is not known.
    pub version: Option<Version>,
    /// What the names of its variables begin with.
    pub prefix: &'static str,
}

impl Build {
    pub fn newest(manager: Manager) -> Build {
        Build { manager, version: None, prefix: "" }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its word on the command line, in ids and conditions; unique for an allocator.
    pub word: &'static str,
    pub about: &'static str,
    /// How it is set for one run, by version; the first that fits is taken. Empty if only code sets it.
    pub ways: &'static [Way],
    /// What to write into the program for good; empty if there is nothing but [`ways`](Self::ways).
    pub code: &'static str,
    pub price: &'static str,
    /// Whether what it keeps from the kernel has a bound, in bytes or in time.
    pub is_bounded: bool,
    /// Whether it is tried but not advised: meant to be used with others, or dearer than what it saves in many programs.
    pub is_part: bool,
    pub against: &'static [Mechanism],
    /// It does nothing for blocks of so many bytes or more, before this version: each of these.
    pub too_large: &'static [(u64, Version)],
}

#[derive(Debug, PartialEq, Eq)]
pub struct Way {
    pub since: Version,
    /// The first later version that does not have it.
    pub until: Version,
    pub assignments: &'static [Assignment],
}

#[derive(Debug, PartialEq, Eq)]
pub struct Assignment {
    pub variable: &'static str,
    /// The option in it; empty if the variable holds one value.
    pub option: &'static str,
    pub value: &'static str,
}

/// A setting that is bounded, and of use without others.
pub(super) const BOUNDED: Setting = Setting {
    word: "",
    about: "",
    ways: &[],
    code: "",
    price: "",
    is_bounded: true,
    is_part: false,
    against: &[],
    too_large: &[],
};

pub(super) const fn variable(variable: &'static str, value: &'static str) -> Assignment {
    Assignment { variable, option: "", value }
}

pub(super) const fn since(since: Version, assignments: &'static [Assignment]) -> Way {
    Way { since, until: NEVER, assignments }
}

impl Setting {
    /// How it is set in this version, or in the newest; `None` if the version does not have it.
    pub fn way(&self, version: Option<Version>) -> Option<&'static Way> {
        match version {
            Some(version) => self.ways.iter().find(|way| way.since <= version && version < way.until),
            None => self.ways.first(),
        }
    }

    /// Conditions of a figure about it; `environment` are its variables.
    pub fn conditions(&self, environment: String) -> Conditions {
        Conditions::default()
            .with(SETTING_ABOUT, self.about.to_owned())
            .with(SETTING_ENVIRONMENT, environment)
            .with(SETTING_CODE, self.code.to_owned())
            .with(SETTING_PRICE, self.price.to_owned())
            .with(SETTING_BOUNDED, self.is_bounded)
    }

    /// Whether it does anything for blocks of so many bytes. An unknown version is the newest.
    pub fn reaches(&self, block: f64, version: Option<Version>) -> bool {
        self.too_large.iter().all(|(bytes, until)| {
            block < *bytes as f64 || *until != NEVER && version.is_none_or(|version| version >= *until)
        })
    }

    pub fn is_set_from_outside(&self) -> bool {
        !self.ways.is_empty()
    }
}
