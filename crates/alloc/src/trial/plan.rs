//! What is run under which allocator. Pure, but for the variables that are already set.

use figure::evidence as key;
use figure::{Conditions, Figure, Machine};
use lab::trial::plan::{environment, notes};
use lab::trial::{Axis, Setup, Trial, Variant};

use super::{MODE, Options};
use crate::mode::{PlanError, Planned};

pub const AXIS: Axis =
    Axis { suite: crate::SUITE, cpu: "alloc.try.cpu", name: "allocator", variant: key::ALLOCATOR };

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
            "one start of {} with each allocator, for the proof of who serves",
            options.program.name()
        ),
    };
    debug_assert_eq!(trial.worker, format!("{}.{}", crate::SUITE, MODE.name));
    Ok(Planned { suite: trial.suite_plan(machine), notes: resolved })
}
