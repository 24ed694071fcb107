//! Should a round be repeated?

use figure::Round;

/// Decides on one round alone, while the run goes on: `Some(reason)` if it was disturbed by something that may
/// pass, so that repeating it is worth the time. Never for what a repetition cannot change.
pub fn gate(round: &Round) -> Option<String> {
    let _ = round;
    None
}
