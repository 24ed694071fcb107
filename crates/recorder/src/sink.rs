//! The two ways to record: every block, counted by size ([`book`](crate::book)), or large ones alone, told at once
//! ([`large`](crate::large)). Which it is says the memory that truebench shares.

use shm::sys;

use crate::{book, large};

/// Where calls are recorded.
#[derive(Clone, Copy, Debug)]
pub enum Sink {
    /// All blocks.
    All(book::Book),
    /// Large ones.
    Large(large::Large),
}

/// A block of which it is open whether it ended.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum Taken {
    /// Of all.
    All(book::Taken),
    /// Of large ones.
    Large(large::Taken),
}

impl Sink {
    /// The time before a block is asked for, for those who want to know.
    #[inline]
    pub fn begun(&self) -> u64 {
        match self {
            Sink::All(_) => 0,
            Sink::Large(_) => sys::now(),
        }
    }

    /// A block of a size that is recorded came to be.
    #[inline]
    pub fn born(&self, address: usize, size: usize, begun: u64, is_resized: bool) {
        match self {
            Sink::All(book) => book.born(address, size, is_resized),
            Sink::Large(large) => large.born(address, size, begun),
        }
    }

    /// A block is about to end: afterwards its address may be another's at once.
    #[inline]
    pub fn ended(&self, address: usize) {
        match self {
            Sink::All(book) => book.ended(address),
            Sink::Large(large) => large.ended(address),
        }
    }

    /// A block may be about to end.
    #[inline]
    pub fn taken(&self, address: usize) -> Taken {
        match self {
            Sink::All(book) => Taken::All(book.taken(address)),
            Sink::Large(large) => Taken::Large(large.taken(address)),
        }
    }

    /// It did end.
    #[inline]
    pub fn confirm(&self, taken: Taken) {
        match (self, taken) {
            (Sink::All(book), Taken::All(taken)) => book.confirm(taken),
            (Sink::Large(large), Taken::Large(taken)) => large.confirm(taken),
            _ => {}
        }
    }

    /// It did not.
    pub fn restore(&self, taken: Taken) {
        match (self, taken) {
            (Sink::All(book), Taken::All(taken)) => book.restore(taken),
            (Sink::Large(large), Taken::Large(taken)) => large.restore(taken),
            _ => {}
        }
    }
}
