use super::*;
use crate::args::SUITES;
use crate::testing;

fn requests() -> Vec<RunRequest> {
    let usual = Measuring::default();
    let measurings = [
        usual.clone(),
        Measuring { quick: true, ..usual.clone() },
        Measuring { thorough: true, ..usual.clone() },
        Measuring { rounds: Some(7), ..usual.clone() },
        Measuring { quick: true, max_time: Some(1000.0), ..usual.clone() },
        Measuring { target: Some(0.02), max_time: Some(900.0), ..usual },
    ];
    measurings.map(|measuring| RunRequest { suites: Vec::new(), measuring }).into()
}

#[test]
fn a_preset_measures_what_its_words_say() {
    let machine = testing::server();
    let has_servers = ::http::servers::program().is_ok();
    for request in requests() {
        for preset in PRESETS.iter().filter(|preset| preset.suite != ::http::SUITE || has_servers) {
            as_its_words(preset, &request, &machine);
        }
    }
}

/// Asserts that a preset plans what its words plan.
fn as_its_words(preset: &Preset, request: &RunRequest, machine: &Machine) {
    let words = preset.words(request);
    let direct = preset.planned(request, machine).map(testing::text);
    let direct = direct.map_err(|failure| failure.message().to_owned());
    let parsed = testing::plan(testing::parsed(&words), machine);
    assert!(direct.is_ok() || parsed.is_err(), "{words}: {direct:?}");
    if let (Ok(direct), Ok(parsed)) = (direct, parsed) {
        assert_eq!(direct, parsed, "{words}");
    }
}

#[test]
fn memory_is_of_the_kinds_of_core_that_a_run_is_of() {
    let memory = PRESETS.iter().find(|preset| preset.suite == ::memory::SUITE).unwrap();
    let machine = machine::synthetic::named("hybrid_laptop");
    for class in [None, Some("efficiency"), Some("all")] {
        let class = class.map(str::to_owned);
        let measuring = Measuring { thorough: true, class, ..Measuring::default() };
        as_its_words(memory, &RunRequest { suites: Vec::new(), measuring }, &machine);
    }
}

#[test]
fn there_is_a_preset_of_each_suite() {
    assert!(SUITES.iter().all(|suite| PRESETS.iter().any(|preset| preset.suite == *suite)));
    assert!(PRESETS.iter().all(|preset| SUITES.contains(&preset.suite)));
}
