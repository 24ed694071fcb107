//! V8: the young generation is two or three semi-spaces, which grow and shrink by pages of 256 KiB.
//!
//! By the Node.js documentation (cli, --max-semi-space-size): 16 MiB at most by default, of which the young
//! generation takes three times as much. NODE_OPTIONS takes it from 16.18 and 18.12 on (pull request 44436), and
//! not --min-semi-space-size, which Node.js 20 refuses. Buffers do not lie in this heap.

use suites::faults::Mechanism::{Growth, MapChurn, Purge};

use super::setting::{Assignment, BOUNDED, Setting, since};

/// Its documentation, cli.
pub const OPTIONS: &str = "NODE_OPTIONS";

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        word: "semi-space",
        about: "the young generation may grow to 192 MiB, so that it is collected and shrinks less often",
        ways: &[since(
            (18, 12),
            &[Assignment { variable: OPTIONS, option: "--max-semi-space-size", value: "64" }],
        )],
        code: "node --max-semi-space-size=64 …",
        price: "up to 144 MiB more for each isolate (workers have one each); longer pauses of the young collection",
        against: &[MapChurn, Purge],
        ..BOUNDED
    },
    Setting {
        word: "semi-space-at-once",
        about: "the young generation has its full size from the start, and never shrinks",
        code: "node --min-semi-space-size=64 --max-semi-space-size=64 … (NODE_OPTIONS does not take the first)",
        price: "up to 192 MiB stay with each isolate",
        against: &[MapChurn, Purge, Growth],
        ..BOUNDED
    },
];
