//! This machine, and the kind of core that a run uses.

use figure::Machine;
use lab::core_kind::{self, Listed};
use lab::{affinity, placement::Places};
use machine::dimms::Dimms;
use machine::{Overrides, Tree};

use crate::exit::CommandError;

#[cfg(test)]
mod tests;

/// This machine. Its kind of core that is used is `class`, or that of the CPUs that the user `listed` ([`core_kind::choose`]). This process
/// and its children then run on that kind, unless they bind themselves.
///
/// # Errors
/// Wrong usage: there is no such kind of core here.
pub fn machine(
    class: Option<&str>,
    listed: &[Listed],
    dimms: Option<Dimms>,
) -> Result<Machine, CommandError> {
    let mut machine = machine::describe(&Tree::live(), &Overrides { dimms });
    choose(&mut machine, class, listed)?;
    Ok(machine)
}

/// The same of a machine that was described before.
///
/// # Errors
/// Wrong usage: there is no such kind of core here.
pub fn choose(machine: &mut Machine, class: Option<&str>, listed: &[Listed]) -> Result<(), CommandError> {
    core_kind::choose(machine, class, listed).map_err(CommandError::usage)?;
    let usable = machine.topology.usable();
    if usable != machine.topology.permitted() {
        affinity::set(&usable).map_err(|error| {
            CommandError::measuring(format!(
                "the affinity mask could not be narrowed to CPUs {usable}: {error}"
            ))
        })?;
    }
    Ok(())
}

/// The CPUs of `--places`, if it lists any.
pub fn listed(places: Option<&Places>) -> Vec<Listed> {
    match places {
        Some(Places::List(places)) => {
            vec![("--places", places.iter().flat_map(|place| place.iter()).collect())]
        }
        _ => Vec::new(),
    }
}
