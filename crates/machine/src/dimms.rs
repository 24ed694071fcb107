//! `--dimms`.

/// Memory modules as the user states them: `12x2666`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimms {
    /// Populated 64-bit channels.
    pub channels: u32,
    /// MT/s.
    pub mt_per_s: u32,
}
