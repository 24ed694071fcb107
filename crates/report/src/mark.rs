//! Marks and colours of verdicts. A mark says the same as its colour, for those who see none.

use anstyle::{AnsiColor, Style};
use figure::Verdict;

/// Every verdict, best first, as legends and counts list them.
pub(crate) const VERDICTS: [Verdict; 4] =
    [Verdict::Valid, Verdict::Unverified, Verdict::Suspect, Verdict::Invalid];

/// The sign before a verdict.
pub(crate) fn of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "✓",
        Verdict::Unverified => "?",
        Verdict::Suspect => "!",
        Verdict::Invalid => "✗",
    }
}

/// What the verdict says about the number, in a few words for a legend.
pub(crate) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "its conditions held",
        Verdict::Unverified => "not all could be observed",
        Verdict::Suspect => "disturbed",
        Verdict::Invalid => "not what its name says",
    }
}

/// A verdict's colour.
pub(crate) fn colour(verdict: Verdict) -> AnsiColor {
    match verdict {
        Verdict::Valid => AnsiColor::Green,
        Verdict::Unverified => AnsiColor::Cyan,
        Verdict::Suspect => AnsiColor::Yellow,
        Verdict::Invalid => AnsiColor::Red,
    }
}

/// Text in a colour.
pub(crate) fn style(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}
