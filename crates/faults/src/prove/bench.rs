//! The proof that each setting takes: starts of the program in which its calls for memory are counted.

use figure::evidence::*;
use figure::{Event, Evidence, Reading};
use lab::failure::Failure;
use lab::image::Image;
use lab::preload::Proof;
use lab::trial::{self, Runner, Setup, Variant, VariantProof};
use lab::worker::{Bench, WorkerReport};

use super::counted::CountedStart;

pub fn prepare(
    setup: Setup,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    trial::prepare(setup, event, |runner, event| Ok(prove_all(runner, event)))
}

fn prove_all(runner: &Runner, event: &mut dyn FnMut(Event)) -> Vec<VariantProof> {
    let variants = &runner.setup().variants;
    let prove_one = |variant: &Variant| {
        event(Event::Preparing { what: format!("one start for the proof: {}", variant.figure) });
        prove(runner, variant)
    };
    let proofs: Vec<Result<Evidence, Failure>> = variants.iter().map(prove_one).collect();
    // The base comes first and once more at the end: the two differ by what differs from start to start.
    let no_base = || Reading::unknown("no start without a setting");
    let again = match variants.first().map(|base| count_calls(runner, base)) {
        Some(Ok(start)) => start.calls(is_rate(runner)),
        Some(Err(failure)) => Reading::unknown(failure.to_string()),
        None => no_base(),
    };
    let base = proofs.first().and_then(|proof| proof.as_ref().ok());
    let base_calls = base.map_or_else(no_base, |evidence| evidence.get(SETTING_CALLS));
    let base_failure = proofs.first().and_then(|proof| proof.as_ref().err().cloned());
    let finish = |proof: Result<Evidence, Failure>| {
        let (mut evidence, failure) = match proof {
            Ok(evidence) => (evidence, None),
            Err(cause) => (Evidence::default(), Some(cause)),
        };
        evidence.put_reading(SETTING_CALLS_BASE, base_calls.clone());
        evidence.put_reading(SETTING_CALLS_AGAIN, again.clone());
        let void = match (failure, &base_failure) {
            (_, Some(how)) => Some(format!("the program itself fails: {how}")),
            (Some(how), None) => Some(format!("the program without it does not fail, and with it: {how}")),
            (None, None) => None,
        };
        VariantProof { evidence, void }
    };
    proofs.into_iter().map(finish).collect()
}

/// Whether the program is stopped once its rates are steady.
fn is_rate(runner: &Runner) -> bool {
    runner.setup().until_rate.is_some()
}

fn count_calls(runner: &Runner, variant: &Variant) -> Result<CountedStart, Failure> {
    CountedStart::run(&runner.stage(), &variant.environment, runner.proof_time())
}

/// Evidence that a setting takes, or why its figure is void.
fn prove(runner: &Runner, variant: &Variant) -> Result<Evidence, Failure> {
    let mut evidence = Evidence::default();
    let image = Image::of_program(&runner.setup().program.file);
    if !variant.environment.is_empty() && image.as_ref().is_some_and(|image| image.is_privileged) {
        return Err(Failure::new("it is set-user-ID or set-group-ID")
            .answer("neither the dynamic linker nor malloc takes variables"));
    }
    if let Some(library) = &variant.library {
        match runner.prove_library(Some(library), &variant.environment)? {
            Proof::ServedByOther(cause) | Proof::Failed(cause) => return Err(Failure::new(cause)),
            proof => trial::write_library(&mut evidence, &proof, library.display().to_string()),
        }
    }
    let counted = count_calls(runner, variant)?;
    match &counted.ended.failure {
        None => counted.write(&mut evidence, is_rate(runner)),
        // The count alone can make it fail: a set-user-ID program does not get its rights then.
        Some(how) => match runner.start_untimed(&variant.environment)?.failure {
            Some(how) => return Err(Failure::new(how)),
            None => {
                let reason = format!("the program fails where its calls are counted: {how}");
                evidence.put_unknown(SETTING_CALLS, reason);
            }
        },
    }
    Ok(evidence)
}
