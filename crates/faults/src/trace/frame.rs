//! Places in code.

use std::rc::Rc;

/// A place in code: the number of its image, or none, and the address as the file states it, or as it was.
pub type Frame = (Option<u32>, u64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    pub group: u32,
    pub thread: Rc<str>,
    /// Calls, the innermost first.
    pub frames: Box<[Frame]>,
}
