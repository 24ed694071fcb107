//! A running measurement as a person watches it, on stderr.
//!
//! A view must not disturb what it shows. So it draws at most once a second, never between the start and the
//! end of a round, and it counts how often it drew and how long that took, for the record. Progress is worth
//! no failure: what stderr refuses is forgotten.
//!
//! On a terminal there is one line that is drawn over; elsewhere (a log, a pipe) there are a few plain lines.

mod line;

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use figure::Event;
use figure::format::{counted, plain};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use line::{Line, Part};

/// The shortest time between two draws.
const BETWEEN_DRAWS: Duration = Duration::from_secs(1);

/// What a view cost the machine that was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How often something was drawn or written.
    pub draws: u64,
    /// How long that took, together.
    pub time: Duration,
}

/// A live view. Feed it every event, in order; then call [`finish`](Live::finish).
pub struct Live {
    face: Face,
    line: Line,
    in_round: bool,
    /// Notes that wait for the end of a round, or of the second.
    notes: Vec<String>,
    last_draw: Option<Instant>,
    cost: Cost,
}

/// Where and how is drawn.
enum Face {
    Silent,
    Lines(Box<dyn Write + Send>),
    Bar(ProgressBar),
}

impl Live {
    /// A view on stderr: a progress line if it is a terminal that can draw over a line, else plain lines;
    /// nothing at all if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if quiet {
            Live::with(Face::Silent)
        } else if io::stderr().is_terminal() && !dumb {
            Live::on_terminal(ProgressDrawTarget::stderr())
        } else {
            Live::with(Face::Lines(Box::new(io::stderr())))
        }
    }

    fn on_terminal(target: ProgressDrawTarget) -> Self {
        // The whole line is one message, so that a draw is one draw.
        let style =
            ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(None, target).with_style(style);
        Live::with(Face::Bar(bar))
    }

    fn with(face: Face) -> Self {
        Live {
            face,
            line: Line::default(),
            in_round: false,
            notes: Vec::new(),
            last_draw: None,
            cost: Cost::default(),
        }
    }

    /// Takes an event in.
    pub fn on(&mut self, event: &Event) {
        self.on_at(event, Instant::now());
    }

    /// [`on`](Self::on) at a given time, so that tests need not wait.
    fn on_at(&mut self, event: &Event, now: Instant) {
        match event {
            Event::PartStarted { number, of, title, seconds, seconds_after } => {
                self.in_round = false;
                let most = seconds.zip(*seconds_after).map(|(own, after)| own + after);
                let end = most.and_then(|most| Some(now + Duration::try_from_secs_f64(most).ok()?));
                let part = Part { number: format!("{number} of {of}"), end };
                self.line = Line::of_part((*of > 1).then_some(part), title);
                self.draw(now);
            }
            Event::SuiteStarted { suite, figures, seconds: expected } => {
                self.in_round = false;
                self.line = std::mem::take(&mut self.line).of_suite(suite);
                let most = expected.map_or(String::new(), |most| format!(", at most {}", line::about(most)));
                let figures = counted(*figures, "figure");
                self.write_line(&format!("{}{}: {figures}{most}", self.line.prefix(), plain(suite)));
            }
            Event::Preparing { what } => {
                self.line.preparing(what);
                if !self.in_round {
                    self.write_line(&self.line.prepared());
                    self.draw(now);
                }
            }
            Event::RoundStarted { .. } => self.in_round = true,
            Event::RoundFinished { figure, value, unit, used, done, seconds_left } => {
                self.in_round = false;
                self.line.measured(figure, *value, unit, *used, *done, *seconds_left);
                self.draw(now);
            }
            Event::Observation { text } => self.line.observed(text),
            Event::Note { text } => {
                self.notes.push(plain(text));
                if !self.in_round {
                    self.draw(now);
                }
            }
            Event::SuiteFinished { .. } => {
                self.in_round = false;
                self.line = Line::default();
            }
        }
    }

    /// Time spent on drawing so far.
    pub fn cost(&self) -> Duration {
        self.cost.time
    }

    /// How often something was drawn so far.
    pub fn draws(&self) -> u64 {
        self.cost.draws
    }

    /// Removes the progress line, prints the pending notes, and returns the total cost of the view.
    pub fn finish(mut self) -> Cost {
        let notes = std::mem::take(&mut self.notes);
        if !notes.is_empty() {
            self.tell(&notes);
        }
        if let Face::Bar(bar) = &self.face {
            let begun = Instant::now();
            bar.finish_and_clear();
            self.cost.time += begun.elapsed();
        }
        self.cost
    }

    /// Draws the line and the notes that wait, if a second has passed since the last time. Plain lines take
    /// no line over, so there only notes are written, and at once.
    fn draw(&mut self, now: Instant) {
        match &self.face {
            Face::Silent => self.notes.clear(),
            Face::Lines(_) => {
                let notes = std::mem::take(&mut self.notes);
                if !notes.is_empty() {
                    self.tell(&notes);
                }
            }
            Face::Bar(bar) => {
                let due = self.last_draw.is_none_or(|last| now.duration_since(last) >= BETWEEN_DRAWS);
                if !due {
                    return;
                }
                let begun = Instant::now();
                let notes = std::mem::take(&mut self.notes);
                if !notes.is_empty() {
                    bar.println(notes.join("\n"));
                }
                self.line.at(now);
                bar.set_message(self.line.to_string());
                self.last_draw = Some(now);
                self.cost.draws += 1;
                self.cost.time += begun.elapsed();
            }
        }
    }

    /// Writes a line where there is no progress line to show the same.
    fn write_line(&mut self, text: &str) {
        if matches!(self.face, Face::Lines(_)) {
            self.tell(&[text.to_owned()]);
        }
    }

    /// Writes whole lines, whatever the face.
    fn tell(&mut self, lines: &[String]) {
        let begun = Instant::now();
        let text = lines.join("\n") + "\n";
        match &mut self.face {
            Face::Silent => return,
            Face::Lines(out) => drop(out.write_all(text.as_bytes())),
            Face::Bar(bar) => bar.println(text.trim_end()),
        }
        self.cost.draws += 1;
        self.cost.time += begun.elapsed();
    }
}

#[cfg(test)]
mod tests;
