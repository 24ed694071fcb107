//! What a target is.

/// Something that reads foreign bytes.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Gives it an input. Panics if what must hold does not.
    pub one: fn(&[u8]),
    /// Inputs made of fixtures, to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Bytes of the longest input that is tried.
    pub longest: usize,
}
