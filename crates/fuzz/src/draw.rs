//! Taking an input apart: numbers and pieces of bytes, one after the other. An input that is too short goes on with zeros.

/// What is left of an input.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    /// Of a whole input.
    pub fn new(bytes: &'a [u8]) -> Draw<'a> {
        Draw(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// At most so many bytes.
    pub fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.number(1) as u8
    }

    /// One of two.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number of two bytes, little-endian.
    pub fn word(&mut self) -> usize {
        self.number(2) as usize
    }

    /// A number of eight bytes, little-endian.
    pub fn long(&mut self) -> u64 {
        self.number(8)
    }

    /// A piece with its length before it, in two bytes.
    pub fn piece(&mut self) -> &'a [u8] {
        let length = self.word();
        self.take(length)
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// A piece with its length before it, as [`Draw::piece`] reads it: for seeds.
pub fn piece(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[..bytes.len().min(usize::from(u16::MAX))];
    [&(bytes.len() as u16).to_le_bytes(), bytes].concat()
}
