//! Why a text gives no figures.

/// Why a text gives no figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is of no tool that is known.
    #[error("{name}: no known tool prints this ({what}); `truebench audit --list` names the tools")]
    Unknown {
        /// The text's name.
        name: String,
        /// How much it is, and how it begins.
        what: String,
    },
    /// It begins like a tool's output and does not go on so.
    #[error("{name}, line {line}: begins like the output of {tool}, but {what}")]
    Broken {
        /// The text's name.
        name: String,
        /// The line where the run begins, from 1.
        line: usize,
        /// The tool.
        tool: &'static str,
        /// What is missing.
        what: String,
    },
    /// It is too large.
    #[error("{name}: has {what}; cut out the runs that matter")]
    TooLarge {
        /// The text's name.
        name: String,
        /// How large it is.
        what: String,
    },
}
