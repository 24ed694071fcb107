use super::*;
use crate::testing::{ladder_options as options, two_cpus as machine};
use figure::host::Setting;
use figure::{Reading, Status};

fn ids(planned: &Planned<Setup>) -> Vec<&str> {
    planned.suite.figures.iter().map(|figure| figure.id.as_str()).collect()
}

#[test]
fn the_largest_size_stands_for_memory() {
    let planned = plan(&machine(), &options(100.0)).unwrap();
    for (id, pages) in [(DRAM, "thp"), (DRAM_SMALL, "small")] {
        let figure = planned.suite.figures.iter().find(|figure| figure.id == id).unwrap();
        assert_eq!(figure.conditions.get(key::ARRAY_BYTES), Some((1u64 << 30) as f64));
        assert_eq!(figure.conditions.get(key::WORKING_SET), None);
        assert_eq!(figure.conditions.get(key::KERNEL).as_deref(), Some("latency"));
        assert_eq!(figure.conditions.get(key::PAGES_ASKED).as_deref(), Some(pages));
        assert_eq!(figure.conditions.get(key::THREADS), Some(1.0));
    }
    assert!(ids(&planned).contains(&"memory.latency.random.huge.16K"));
    let l2 =
        planned.suite.figures.iter().find(|figure| figure.id == "memory.latency.random.huge.1M").unwrap();
    assert_eq!(l2.conditions.get(key::ARRAY_BYTES), None);
    assert_eq!(l2.series.as_deref(), Some("memory.latency.random.huge"));
}

#[test]
fn small_pages_have_sizes_that_huge_ones_have() {
    for time in [29.0, 100.0] {
        let planned = plan(&machine(), &options(time)).unwrap();
        let sizes = |series: &str| -> Vec<f64> {
            let points = planned.suite.figures.iter().filter(|f| f.series.as_deref() == Some(series));
            points.filter_map(edges::figures::size).collect()
        };
        let (huge, small) = (sizes("memory.latency.random.huge"), sizes("memory.latency.random.small"));
        assert!(!small.is_empty() && small.iter().all(|size| huge.contains(size)), "{small:?} of {huge:?}");
        assert!(sizes("memory.latency.pages.small").iter().all(|size| huge.contains(size)));
        // Least rounds of all, and laying, within the time: else there are no intervals.
        assert!(planned.suite.figures.len() as f64 * 6.0 * ROUND < time, "{}", planned.suite.figures.len());
    }
}

#[test]
fn what_is_asked_for_by_size_stands_for_memory_only_if_it_is_memory() {
    let asked = |to| Options { sizes: Some((16 << 10, to)), ..options(100.0) };
    let short = plan(&machine(), &asked(1 << 20)).unwrap();
    assert!(!ids(&short).contains(&DRAM) && ids(&short).contains(&"memory.latency.random.huge.1M"));
    let long = plan(&machine(), &asked(256 << 20)).unwrap();
    assert!(ids(&long).contains(&DRAM), "256 MiB are 4 x 33 MiB and more");
    let message = plan(&machine(), &asked(4 << 30)).unwrap_err().to_string();
    assert!(message.starts_with("--sizes 16KiB..4GiB: 2 x the last size is mapped"), "{message}");
}

#[test]
fn pages_narrow_the_curves() {
    let planned = |pages| plan(&machine(), &Options { pages, ..options(100.0) }).unwrap();
    let series = |planned: &Planned<Setup>| {
        let mut all: Vec<String> = planned.suite.figures.iter().filter_map(|f| f.series.clone()).collect();
        all.dedup();
        all
    };
    assert_eq!(series(&planned(Pages::Small)), ["memory.latency.random.small", "memory.latency.pages.small"]);
    assert_eq!(series(&planned(Pages::Thp)), ["memory.latency.random.huge"]);
    assert_eq!(planned(Pages::Default).suite.setup.regions.len(), 2);
    assert_eq!(planned(Pages::Small).suite.setup.regions.len(), 1);
}

#[test]
fn unavailable_huge_pages_are_reported() {
    let mut machine = machine();
    machine.kernel.settings.push(Setting {
        name: "transparent_hugepage".into(),
        value: Reading::Value("never".into()),
        source: String::new(),
    });
    let planned = plan(&machine, &options(100.0)).unwrap();
    for figure in &planned.suite.figures {
        let huge = figure.conditions.get(key::PAGES_ASKED).as_deref() == Some("thp");
        assert_eq!(figure.status == Status::NotAvailable, huge, "{}", figure.id);
    }
    let setup = &planned.suite.setup;
    assert!(
        setup.tasks.iter().all(|task| setup.regions[task.region].0 == Pages::Small),
        "none is laid in vain"
    );
}

#[test]
fn short_memory_makes_the_largest_size_smaller_and_says_so() {
    let mut machine = machine();
    machine.memory.available = Reading::Value(256 << 20);
    let planned = plan(&machine, &options(100.0)).unwrap();
    let dram = planned.suite.figures.iter().find(|figure| figure.id == DRAM).unwrap();
    assert!(dram.conditions.get(key::ARRAY_BYTES).unwrap() <= (128 << 20) as f64);
    assert!(dram.evidence.get(key::MEMORY_LIMITED_BY).into_value().unwrap().contains("does not fit"));
    let first = &planned.suite.figures[0];
    assert_eq!(first.evidence.get(key::MEMORY_LIMITED_BY).into_value().as_deref(), Some(""));
}

#[test]
fn chains_lie_inside_their_regions() {
    let setup = plan(&machine(), &options(100.0)).unwrap().suite.setup;
    for task in &setup.tasks {
        assert!(
            task.offset / setup.stride * setup.stride + task.bytes <= setup.regions[task.region].1,
            "{task:?}"
        );
    }
}
