//! The proof that each allocator serves: one start of the program with each.

use std::time::Instant;

use figure::check::MIN_ROUNDS;
use figure::format::{counted, seconds};
use figure::{Event, Evidence};
use lab::failure::Failure;
use lab::preload::Proof;
use lab::session::with_finishing_time;
use lab::trial::{self, Runner, Setup, VariantProof};

pub fn prove(runner: &Runner, event: &mut dyn FnMut(Event)) -> Result<Vec<VariantProof>, Failure> {
    let setup = runner.setup();
    let mut proofs = Vec::new();
    for (number, variant) in setup.variants.iter().enumerate() {
        event(Event::Preparing {
            what: format!("one start with {}, to prove that it provides malloc", variant.name),
        });
        let start = Instant::now();
        proofs.push(runner.prove_library(variant.library.as_deref(), &variant.environment));
        if number == 0 {
            event(Event::Note { text: estimate(setup, start.elapsed().as_secs_f64()) });
        }
    }
    let plain_failure = plain_failure(runner, &proofs)?;
    let outcomes = setup.variants.iter().zip(&proofs).map(|(variant, proof)| {
        let library = variant.library.as_ref().map(|path| path.display().to_string());
        let library = library.unwrap_or_else(|| "the C library's own".to_owned());
        let mut evidence = Evidence::default();
        if let Ok(proof) = proof {
            trial::write_library(&mut evidence, proof, library);
        }
        VariantProof { evidence, void: void(proof, plain_failure.as_deref()) }
    });
    Ok(outcomes.collect())
}

/// How long all starts will take, by the first of them.
fn estimate(setup: &Setup, start: f64) -> String {
    let (variants, (least, most)) = (setup.variants.len(), setup.starts);
    // One more start of each for the proof.
    let takes = |starts: usize| start * (variants * (starts + 1)) as f64;
    let max_time = setup.max_time.unwrap_or(f64::INFINITY);
    let each = format!("a start takes {}", seconds(start));
    let allocators = counted(variants, "allocator");
    if takes(MIN_ROUNDS) > max_time {
        return format!(
            "{each}: {MIN_ROUNDS} starts with each of {allocators}, which a conclusion needs, take {}, and there are {}; \
             --max-time {:.0}s is enough",
            seconds(takes(MIN_ROUNDS)),
            seconds(max_time),
            with_finishing_time(takes(MIN_ROUNDS)).ceil()
        );
    }
    let [low, high] = [least, most].map(|starts| seconds(takes(starts).min(max_time)));
    let time = if low == high { low } else { format!("{low} to {high}") };
    format!(
        "{each}: with {allocators} this takes {time}, until the difference is known (--max-time sets another limit)"
    )
}

/// Why an allocator's row is void. `plain_failure` is how the program fails with nothing preloaded.
fn void(proof: &Result<Proof, Failure>, plain_failure: Option<&str>) -> Option<String> {
    match (proof, plain_failure) {
        (Ok(Proof::Served(_) | Proof::Unknown(_)), _) => None,
        (Ok(Proof::Failed(_)), Some(how)) => {
            Some(format!("the program itself fails: {how}; a program that fails is not compared"))
        }
        (Ok(Proof::Failed(how)), None) => {
            Some(format!("the program fails with it, and without it does not: {how}"))
        }
        (Ok(Proof::ServedByOther(cause)), _) => Some(cause.clone()),
        (Err(failure), _) => Some(failure.to_string()),
    }
}

/// How the program fails with nothing preloaded, if it failed with anything.
fn plain_failure(runner: &Runner, proofs: &[Result<Proof, Failure>]) -> Result<Option<String>, Failure> {
    if !proofs.iter().any(|proof| matches!(proof, Ok(Proof::Failed(_)))) {
        return Ok(None);
    }
    let plain = runner.setup().variants.iter().position(|variant| variant.is_plain());
    let proof = match plain.and_then(|plain| proofs.get(plain)) {
        Some(proof) => proof.clone(),
        None => runner.prove_library(None, &[]),
    };
    match proof? {
        Proof::Failed(how) => Ok(Some(how)),
        _ => Ok(None),
    }
}
