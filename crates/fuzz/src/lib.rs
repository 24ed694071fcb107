//! Fuzzing of everything that reads foreign bytes.
//!
//! A target (`targets/`) is a function from bytes: it gives them to a parser as any sender could, and asserts what must hold of any. The same
//! functions are run in two ways: `make fuzz` has libFuzzer change inputs, guided by which code each of them reaches; `cargo test`
//! replays the stored inputs, in seconds.
//!
//! Stored are: in `corpus/NAME.tar.gz` inputs that together reach all the code that was ever reached, made as few and as small as can be;
//! in `regressions/NAME/` every input that once failed, by a name that says how. Each target also makes seeds of the fixtures that the tests
//! of its parser have. [`guard`] holds every input within time and memory.

pub mod draw;
pub mod guard;
pub mod inputs;
mod looks;
pub mod target;
pub mod targets;

pub use target::Target;
pub use targets::TARGETS;
