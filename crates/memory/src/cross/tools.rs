//! The list of programs.

use super::tool::Tool;
use super::{likwid, mlc, stream};

/// The programs that are known. A new one is a file, and a line here.
pub static TOOLS: &[&Tool] = &[&mlc::TOOL, &likwid::TOOL, &stream::TOOL];
