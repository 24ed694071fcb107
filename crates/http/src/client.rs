//! The client: processes of their own that load a server, so that each has its own files, memory and CPUs.
//!
//! - [`spec`] is what is asked of one, as it goes over its pipe.
//! - [`process`] is the process, from the inside ([`serve`]) and from the outside ([`process::Generator`]).

pub mod facts;
pub mod process;
pub mod spec;

pub use process::{Generator, WORKER, serve};
pub use spec::Spec;
