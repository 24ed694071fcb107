//! rpmalloc reads no variables: its configuration is a structure that the program passes (rpmalloc.h).

use suites::faults::Mechanism::{MapChurn, Purge};

use super::setting::{BOUNDED, Setting};

pub(super) const SETTINGS: &[Setting] = &[Setting {
    word: "no-decommit",
    about: "free pages are never given back",
    code: "rpmalloc_config_t config = {.disable_decommit = 1}; rpmalloc_initialize_config(0, &config); /* from 2.0 on */",
    price: "what was once used stays with the program for ever, without a bound",
    is_bounded: false,
    against: &[Purge, MapChurn],
    ..BOUNDED
}];
