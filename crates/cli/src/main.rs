//! The truebench binary.
fn main() {}
