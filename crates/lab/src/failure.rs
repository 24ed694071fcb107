//! The error of everything that measures: what was tried, on what, what the system answered, and what to do.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// Something that could not be done. Printed as "ATTEMPT OBJECT: ANSWER; ADVICE", without missing parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Failure {
    attempt: Cow<'static, str>,
    object: Option<String>,
    answer: Option<String>,
    advice: Option<Cow<'static, str>>,
}

impl Failure {
    /// What was tried, or a whole sentence where nothing answered: "no thread measured this pair".
    pub fn new(attempt: impl Into<Cow<'static, str>>) -> Failure {
        Failure { attempt: attempt.into(), object: None, answer: None, advice: None }
    }

    /// On what: a path, a process, a device.
    pub fn on(self, object: impl Display) -> Failure {
        Failure { object: Some(object.to_string()), ..self }
    }

    /// What the system, a library or another process answered.
    pub fn answer(self, answer: impl Display) -> Failure {
        Failure { answer: Some(answer.to_string()), ..self }
    }

    /// What the user can do about it.
    pub fn advice(self, advice: impl Into<Cow<'static, str>>) -> Failure {
        Failure { advice: Some(advice.into()), ..self }
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str(&self.attempt)?;
        if let Some(object) = &self.object {
            let space = if self.attempt.is_empty() { "" } else { " " };
            write!(out, "{space}{object}")?;
        }
        if let Some(answer) = &self.answer {
            write!(out, ": {answer}")?;
        }
        self.advice.as_ref().map_or(Ok(()), |advice| write!(out, "; {advice}"))
    }
}

/// Says what was tried when something else refused.
pub trait Attempt<T> {
    fn attempt(self, attempt: impl Into<Cow<'static, str>>) -> Result<T, Failure>;

    /// As [`attempt`](Self::attempt), with the object. An empty attempt: "OBJECT: ANSWER", as for files.
    fn attempt_on(self, attempt: &'static str, object: impl Display) -> Result<T, Failure>;
}

impl<T, E: Display> Attempt<T> for Result<T, E> {
    fn attempt(self, attempt: impl Into<Cow<'static, str>>) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(attempt).answer(error))
    }

    fn attempt_on(self, attempt: &'static str, object: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(attempt).on(object).answer(error))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn parts_are_joined_and_survive_the_way_to_another_process() {
        let refused: Result<(), &str> = Err("Permission denied");
        let failure = refused.attempt_on("cannot read", "/proc/1/maps").unwrap_err().advice("run it as root");
        assert_eq!(failure.to_string(), "cannot read /proc/1/maps: Permission denied; run it as root");
        assert_eq!(refused.attempt_on("", "/x").unwrap_err().to_string(), "/x: Permission denied");
        assert_eq!(refused.attempt("cannot pin").unwrap_err().to_string(), "cannot pin: Permission denied");
        assert_eq!(Failure::new("no such figure").to_string(), "no such figure");
        let text = serde_json::to_string(&failure).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), failure);
    }
}
