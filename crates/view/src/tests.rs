use std::sync::{Arc, Mutex};

use indicatif::InMemoryTerm;

use super::*;

fn terminal() -> (InMemoryTerm, Live) {
    let term = InMemoryTerm::new(10, 100);
    let live = Live::on_terminal(ProgressDrawTarget::term_like(Box::new(term.clone())));
    (term, live)
}

/// What was written, and the view that writes it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn live(&self) -> Live {
        Live::with(Face::Lines(Box::new(self.clone())))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn started() -> Event {
    Event::SuiteStarted { suite: "memory".into(), figures: 14, seconds: Some(48.0) }
}

fn round() -> Event {
    Event::RoundStarted { figure: "memory.triad.nt".into(), round: 1 }
}

fn finished(done: f64) -> Event {
    Event::RoundFinished {
        figure: "memory.triad.nt".into(),
        value: Some(36.94),
        unit: "GB/s".into(),
        used: true,
        done,
        seconds_left: 27.4,
    }
}

fn note(text: &str) -> Event {
    Event::Note { text: text.into() }
}

fn preparing() -> Event {
    Event::Preparing { what: "first touch of 11.5 GB".into() }
}

#[test]
fn the_line_says_how_far_what_last_and_how_long() {
    let (term, mut live) = terminal();
    live.on(&started());
    live.on(&round());
    live.on(&finished(0.43));
    assert_eq!(term.contents(), "████████░░░░░░░░░░░░  43 %  28 s left  memory.triad.nt 36.9 GB/s");
}

#[test]
fn a_run_of_several_parts_has_one_estimate_that_only_falls() {
    let (term, mut live) = terminal();
    let begin = Instant::now();
    let part = |number, seconds, after| Event::PartStarted {
        number,
        of: 2,
        title: "bandwidth".into(),
        seconds: Some(seconds),
        seconds_after: Some(after),
    };
    live.on_at(&part(1, 40.0, 30.0), begin);
    assert_eq!(term.contents(), "[1 of 2] ░░░░░░░░░░░░░░░░░░░░   0 %  at most 70 s left  bandwidth");
    live.on_at(&started(), begin);
    live.on_at(&round(), begin);
    live.on_at(&finished(0.5), begin + Duration::from_secs(20));
    assert!(
        term.contents().contains("[1 of 2] ██████████░░░░░░░░░░  50 %  at most 50 s left"),
        "{}",
        term.contents()
    );
    // The first part was done early.
    live.on_at(&part(2, 30.0, 0.0), begin + Duration::from_secs(25));
    assert!(
        term.contents().contains("[2 of 2]") && term.contents().contains("at most 30 s left"),
        "{}",
        term.contents()
    );
}

#[test]
fn preparation_is_shown() {
    let (term, mut live) = terminal();
    live.on(&started());
    live.on(&preparing());
    assert_eq!(term.contents(), "░░░░░░░░░░░░░░░░░░░░   0 %  first touch of 11.5 GB");
}

#[test]
fn it_draws_at_most_once_a_second() {
    let (_, mut live) = terminal();
    let begin = Instant::now();
    live.on_at(&started(), begin);
    for millisecond in 0..5000 {
        let now = begin + Duration::from_millis(millisecond);
        live.on_at(&round(), now);
        live.on_at(&finished(millisecond as f64 / 5000.0), now);
        live.on_at(&note("again"), now);
    }
    assert_eq!(live.draws(), 5, "at 0, 1, 2, 3 and 4 s");
    assert!(live.cost() > Duration::ZERO);
}

#[test]
fn nothing_is_drawn_inside_a_round() {
    let (term, mut live) = terminal();
    let begin = Instant::now();
    let at = |seconds| begin + Duration::from_secs(seconds);
    live.on_at(&started(), begin);
    live.on_at(&preparing(), begin);
    let (before, draws) = (term.contents(), live.draws());
    live.on_at(&round(), at(10));
    live.on_at(&note("clock stepped"), at(20));
    live.on_at(&preparing(), at(30));
    assert_eq!((term.contents(), live.draws()), (before, draws));
    live.on_at(&finished(0.5), at(40));
    assert!(term.contents().starts_with("clock stepped\n██████████"), "{}", term.contents());
}

#[test]
fn a_log_gets_notes_and_preparations_but_no_progress() {
    let log = Log::default();
    let mut live = log.live();
    live.on(&started());
    live.on(&preparing());
    for step in 0..100 {
        live.on(&round());
        if step == 7 {
            live.on(&note("clock stepped"));
            assert!(!log.text().contains("clock"), "not inside the round");
        }
        live.on(&finished(f64::from(step) / 100.0));
    }
    live.on(&Event::SuiteFinished { suite: "memory".into() });
    let cost = live.finish();
    assert_eq!(
        log.text(),
        "memory: 14 figures, at most 48 s\nmemory: first touch of 11.5 GB\nclock stepped\n"
    );
    assert_eq!(cost.draws, 3);
}

#[test]
fn at_the_end_the_line_is_gone_and_every_note_is_printed() {
    let (term, mut live) = terminal();
    live.on(&started());
    live.on(&finished(0.2));
    live.on(&note("first"));
    live.on(&note("second"));
    assert!(!term.contents().contains("first"), "less than a second after the line was drawn");
    live.finish();
    assert_eq!(term.contents(), "first\nsecond");
}

#[test]
fn quiet_is_quiet() {
    let mut live = Live::new(true);
    for event in [started(), preparing(), note("x"), round(), finished(1.0)] {
        live.on(&event);
    }
    assert_eq!(live.finish(), Cost::default());
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let log = Log::default();
    let mut live = log.live();
    live.on(&note("\u{1b}[2Jowned\r\n\u{7}"));
    assert_eq!(log.text(), "owned\n");
}

#[test]
fn values_that_make_no_sense_are_borne() {
    let (term, mut live) = terminal();
    live.on(&Event::RoundFinished {
        figure: "x".repeat(10_000),
        value: None,
        unit: String::new(),
        used: false,
        done: f64::NAN,
        seconds_left: f64::INFINITY,
    });
    let contents = term.contents();
    assert!(contents.starts_with("░░░░░░░░░░░░░░░░░░░░   0 %  xxx"), "{contents}");
    assert_eq!(contents.lines().count(), 1);
    let line = {
        let mut line = Line::default();
        line.measured("a.b", Some(1.5), "ns", false, 7.0, 1.0);
        line.to_string()
    };
    assert_eq!(line, "████████████████████ 100 %  1 s left  a.b 1.50 ns (disturbed, set aside)");
}

#[test]
fn a_stderr_that_refuses_is_no_failure() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut live = Live::with(Face::Lines(Box::new(Closed)));
    live.on(&started());
    live.on(&note("x"));
    assert_eq!(live.finish().draws, 2);
}

#[test]
fn what_a_round_showed_stands_behind_its_value_and_no_other() {
    let (term, mut live) = terminal();
    live.on(&started());
    live.on(&round());
    live.on(&Event::Observation { text: "p99 4.1 ms\u{1b}[31m".into() });
    live.on(&finished(0.43));
    assert!(term.contents().contains("36.9 GB/s; p99 4.1 ms"), "{}", term.contents());
    assert!(!term.contents().contains('\u{1b}'));
    live.on_at(&finished(0.5), Instant::now() + 2 * BETWEEN_DRAWS);
    assert!(!term.contents().contains("p99"), "{}", term.contents());
}
