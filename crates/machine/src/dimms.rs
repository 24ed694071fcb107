//! `--dimms`: memory modules as the user states them.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use figure::host::Peak;

/// Bytes per transfer of a 64-bit channel.
const BYTES_PER_TRANSFER: f64 = 8.0;
/// Above the channels of any machine (16 sockets x 12 = 192): more are a typing error.
const MAX_CHANNELS: u32 = 256;
/// The slowest SDRAM (PC66).
const MIN_SPEED: u32 = 66;
/// Well above today's fastest modules (LPDDR5X: 10 700 MT/s).
const MAX_SPEED: u32 = 20_000;
/// Module types that may precede the speed.
const KINDS: [&str; 10] =
    ["DDR", "DDR2", "DDR3", "DDR4", "DDR5", "LPDDR3", "LPDDR4", "LPDDR4X", "LPDDR5", "LPDDR5X"];

/// `12x2666` or `8xDDR5-4800`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimms {
    /// Populated 64-bit channels.
    pub channels: u32,
    pub mt_per_s: u32,
    /// `DDR4`, `DDR5`, …, if stated. It appears in the basis and changes no number.
    pub kind: Option<&'static str>,
}

impl Dimms {
    /// The theoretical peak: 8 B x channels x MT/s.
    pub fn peak(self) -> Peak {
        peak(self.channels, self.mt_per_s, format!("{self} (--dimms)"))
    }
}

pub(crate) fn peak(channels: u32, mt_per_s: u32, basis: String) -> Peak {
    let bytes_per_s = BYTES_PER_TRANSFER * f64::from(channels) * f64::from(mt_per_s) * 1e6;
    Peak { channels, mt_per_s, bytes_per_s, basis }
}

impl fmt::Display for Dimms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{} x {kind}-{}", self.channels, self.mt_per_s),
            None => write!(f, "{} x {}", self.channels, self.mt_per_s),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDimms {
    #[error("'{0}' is not CHANNELSxSPEED; write for example 12x2666 or 8xDDR5-4800")]
    Form(String),
    #[error("{0} channels: the count of populated 64-bit channels must be 1 to {MAX_CHANNELS}")]
    Channels(String),
    #[error(
        "{0} MT/s: the speed must be {MIN_SPEED} to {MAX_SPEED}; it is the transfer rate (2666), not the clock (1333)"
    )]
    Speed(String),
}

impl FromStr for Dimms {
    type Err = NotDimms;

    fn from_str(text: &str) -> Result<Self, NotDimms> {
        let text = text.trim();
        let form = || NotDimms::Form(text.chars().take(40).collect());
        let (channels, module) = text.split_once(['x', 'X', '*']).ok_or_else(form)?;
        let (kind, speed) = match module.trim().rsplit_once('-') {
            Some((name, speed)) => {
                let name = name.trim().to_ascii_uppercase();
                (Some(*KINDS.iter().find(|kind| **kind == name).ok_or_else(form)?), speed)
            }
            None => (None, module),
        };
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let (channels, speed) = (channels.trim(), speed.trim());
        if !digits(channels) || !digits(speed) {
            return Err(form());
        }
        let short = |part: &str| part.chars().take(20).collect();
        let number = |text: &str, range: RangeInclusive<u32>| text.parse().ok().filter(|n| range.contains(n));
        Ok(Dimms {
            channels: number(channels, 1..=MAX_CHANNELS)
                .ok_or_else(|| NotDimms::Channels(short(channels)))?,
            mt_per_s: number(speed, MIN_SPEED..=MAX_SPEED).ok_or_else(|| NotDimms::Speed(short(speed)))?,
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn twelve_channels_of_2666_make_255_936_mb_per_s() {
        let peak = "12x2666".parse::<Dimms>().unwrap().peak();
        assert_eq!(peak.bytes_per_s, 255_936e6);
        assert_eq!((peak.channels, peak.mt_per_s), (12, 2666));
        assert_eq!(peak.basis, "12 x 2666 (--dimms)");
    }

    #[test]
    fn a_kind_may_be_named() {
        let dimms: Dimms = "8xddr5-4800".parse().unwrap();
        assert_eq!(dimms, Dimms { channels: 8, mt_per_s: 4800, kind: Some("DDR5") });
        assert_eq!(dimms.peak().basis, "8 x DDR5-4800 (--dimms)");
        assert_eq!(dimms.peak().bytes_per_s, 307.2e9);
        assert_eq!(" 2 x LPDDR5X-8533 ".parse::<Dimms>().unwrap().kind, Some("LPDDR5X"));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let error = |text: &str| text.parse::<Dimms>().unwrap_err().to_string();
        assert_eq!(error("2666"), "'2666' is not CHANNELSxSPEED; write for example 12x2666 or 8xDDR5-4800");
        for text in ["", "x", "12x", "x2666", "12x26.66", "-1x2666", "8xDDR9-4800", "8xDDR5-", "+8x2666"] {
            assert!(error(text).contains("CHANNELSxSPEED"), "{text}: {}", error(text));
        }
        assert_eq!(error("0x2666"), "0 channels: the count of populated 64-bit channels must be 1 to 256");
        assert!(error("99999999999x2666").starts_with("99999999999 channels"));
        assert!(error("2x1").contains("transfer rate"));
        assert!(error("2x99999999999").starts_with("99999999999 MT/s"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,30}") {
            let _ = text.parse::<Dimms>();
        }

        #[test]
        fn text_form_is_reversible(channels in 1u32..=256, mt_per_s in 66u32..=20_000, kind in 0usize..=10) {
            let dimms = Dimms { channels, mt_per_s, kind: KINDS.get(kind).copied() };
            prop_assert_eq!(dimms.to_string().parse::<Dimms>().unwrap(), dimms);
        }
    }
}
