//! What is run under which allocator. Pure, but for the variables that are already set.

use std::path::PathBuf;

use figure::evidence as key;
use figure::{Conditions, Figure, Machine};
use lab::schedule::Rules;
use lab::start::Program;
use lab::trial::plan::{environment, notes};
use lab::trial::{Axis, Setup, Trial, Variant};

use crate::find::Selection;
use crate::mode::{PlanError, Planned};

/// The word of the mode on the command line.
pub const NAME: &str = "try";

pub const AXIS: Axis =
    Axis { suite: crate::SUITE, cpu: "alloc.try.cpu", name: "allocator", variant: key::ALLOCATOR };

#[derive(Clone, Debug)]
pub struct Options {
    pub allocators: Selection,
    pub program: Program,
    /// An empty directory for the output of the dynamic linker.
    pub directory: PathBuf,
    pub rules: Rules,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let planned = |allocator: &str| AXIS.planned(allocator, &options.program, None, Conditions::default());
    let installed = &options.allocators.installed;
    let variants: Vec<Variant> = installed
        .iter()
        .map(|allocator| Variant {
            name: allocator.name.clone(),
            figure: AXIS.id(&allocator.name),
            environment: environment(&allocator.environment, allocator.library.as_deref()),
            library: allocator.library.clone(),
        })
        .collect();
    let mut figures: Vec<Figure> = installed.iter().map(|allocator| planned(&allocator.name)).collect();
    for (name, how) in &options.allocators.missing {
        figures.push(planned(name).not_available(how.clone()));
    }
    let names: Vec<&str> = installed.iter().map(|allocator| allocator.name.as_str()).collect();
    let mut resolved = vec![("allocators", names.join(", "))];
    resolved.extend(notes(&options.program));
    let trial = Trial {
        suite: crate::SUITE,
        worker: "alloc.try",
        program: options.program.clone(),
        directory: options.directory.clone(),
        until_rate: None,
        rules: options.rules,
        // One more where the plain program has to show whether it fails too.
        proof_starts: variants.len() + 1,
        variants,
        figures,
        preparing: format!(
            "one start of {} with each allocator, to prove that it provides malloc",
            options.program.name()
        ),
    };
    debug_assert_eq!(trial.worker, format!("{}.{}", crate::SUITE, NAME));
    Ok(Planned { suite: trial.suite_plan(machine), notes: resolved })
}
