//! Padding against false sharing.

/// A value on two cache lines of its own: adjacent-line prefetchers fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);
