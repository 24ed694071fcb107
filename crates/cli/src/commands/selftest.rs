//! `truebench selftest`: plants defects, and shows which of them are reported.

mod host;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use compare::{Compared, Named, Rules};
use figure::format::system_error;
use figure::{Machine, Record, Verdict};
use lab::core_kind;
use lab::placement::{Bind, Places};
use machine::{Overrides, Tree};
use serde::Serialize;
use truth::answer::{self, Answer, Twin};
use truth::defect::Defect;
use truth::quiet::{self, Clean, RUNS};
use truth::tally::{Rates, Row, rates};
use truth::trial::{Site, Trial};
use truth::{defects, show};

use self::host::Host;

use crate::args::selftest::{Selftest, SelftestFormat};
use crate::exit::{self, CommandError};
use crate::output::{self, Target};
use crate::run;

/// The default of --max-time, in seconds.
const MAX_TIME: f64 = 180.0;

/// What `--format json` prints.
#[derive(Serialize)]
struct Table<'a> {
    machine: String,
    rows: &'a [Row],
    /// Defects that were not tried, because time was short or the user stopped it.
    untried: usize,
    rates: Vec<Rates>,
    /// Checks that no defect plants.
    unplanted: &'a [&'static str],
    clean: &'a Clean,
}

/// Plants, looks, and prints the table.
///
/// # Errors
/// Wrong usage: no defect of such a name, or a file that cannot be written.
pub fn run(options: &Selftest) -> Result<ExitCode, CommandError> {
    if options.programs {
        return programs::run(options);
    }
    let target = options.output.as_deref().map(Target::check).transpose()?;
    let chosen = chosen(options)?;
    if options.list {
        let list = output::list(chosen.iter().map(|defect| (defect.id.clone(), description(defect))));
        return output::print(list.as_bytes()).map(|()| ExitCode::SUCCESS);
    }
    let (truebench, machine, cpus) = here()?;
    let interrupt = run::interrupt()?;
    let is_interrupted = || interrupt.requested().is_some();
    let site = Site { truebench: &truebench, cpus: &cpus, is_interrupted: &is_interrupted };
    let host = Host::new(&Tree::live(), &machine, &cpus);
    let machine = machine.summary();
    let chosen = if options.only_clean { Vec::new() } else { chosen };
    let rows = tried(&site, &host, &chosen, options);
    let clean = with_nothing(&site, &host, options);
    let untried = chosen.len() - rows.len();
    let note = untried_note(untried, is_interrupted());
    let unplanted = unplanted()?;
    let text = match options.format {
        SelftestFormat::Text => {
            let colour = target.is_none() && output::colour(options.no_color);
            show::text(&rows, &clean, output::width(), colour) + &note
        }
        SelftestFormat::Markdown => {
            heading("The truth table", &machine) + &show::markdown(&rows, &unplanted, &clean) + &note
        }
        SelftestFormat::Json => {
            let (rows, unplanted, clean) = (&rows[..], &unplanted[..], &clean);
            let table = Table { machine, rates: rates(rows), rows, untried, unplanted, clean };
            serde_json::to_string_pretty(&table).map_err(CommandError::measuring)? + "\n"
        }
    };
    write(target.as_ref(), &text)?;
    let was_tried = rows.iter().any(|row| row.trials > 0) || clean.was_tried();
    let holds = rows.iter().all(Row::holds) && clean.broken.is_empty();
    Ok(code(is_interrupted(), was_tried, holds))
}

/// This program, the machine, and the CPUs that may be used.
fn here() -> Result<(PathBuf, Machine, Vec<u32>), CommandError> {
    let truebench = std::env::current_exe()
        .map_err(|error| CommandError::measuring(format!("this program cannot be found again: {error}")))?;
    let mut machine = machine::describe(&Tree::live(), &Overrides { dimms: None });
    // As every truebench that it starts.
    core_kind::choose(&mut machine, None, &[]).map_err(CommandError::usage)?;
    let cpus = by_core(&machine)?;
    Ok((truebench, machine, cpus))
}

fn write(target: Option<&Target>, text: &str) -> Result<(), CommandError> {
    match target {
        Some(target) => target.write_text(text),
        None => output::print(text.as_bytes()),
    }
}

fn code(is_interrupted: bool, was_tried: bool, holds: bool) -> ExitCode {
    ExitCode::from(if is_interrupted {
        exit::INTERRUPTED
    } else if !was_tried {
        exit::NOT_MEASURED
    } else if holds {
        exit::OK
    } else {
        exit::INVALID
    })
}

/// The CPUs that may be used, those of different cores first: what is planted on a second CPU is not to be on
/// the first one's core.
fn by_core(machine: &Machine) -> Result<Vec<u32>, CommandError> {
    let places =
        lab::placement::place(machine, &Places::Cores, Bind::Close, None).map_err(CommandError::measuring)?;
    let firsts = places.first_cpus();
    let others = places.cpus().iter().filter(|cpu| !firsts.contains(cpu)).collect::<Vec<_>>();
    Ok([firsts, others].concat())
}

/// The checks that are the cause of no defect: the table does not cover them.
fn unplanted() -> Result<Vec<&'static str>, CommandError> {
    let all = defects::all().map_err(CommandError::measuring)?;
    let causes: BTreeSet<&str> = all.iter().filter_map(|defect| defect.expect.cause.as_deref()).collect();
    Ok(judge::all().map(|check| check.id).filter(|id| !causes.contains(id)).collect())
}

/// A note on the defects that were not tried.
fn untried_note(count: usize, is_interrupted: bool) -> String {
    let why = if is_interrupted { "interrupted" } else { "there was no time for them: --all, or --max-time" };
    match count {
        0 => String::new(),
        1 => format!("\nOne more defect was not tried: {why}\n"),
        _ => format!("\n{count} more defects were not tried: {why}\n"),
    }
}

/// What a page begins with: how it was made.
fn heading(title: &str, machine: &str) -> String {
    let words: Vec<String> = std::env::args().skip(1).collect();
    format!(
        "# {title}\n\nWritten by `truebench {}`, truebench {}, {}, on: {}. What the columns mean: [selftest](methods/selftest.md).\n\n",
        figure::format::plain(&words.join(" ")),
        env!("CARGO_PKG_VERSION"),
        lab::timestamp(),
        machine
    )
}

/// The defects that are asked for; without names, those that do no harm, from all suites in turn.
fn chosen(options: &Selftest) -> Result<Vec<Defect>, CommandError> {
    let mut all = defects::all().map_err(CommandError::measuring)?;
    for file in options.which.iter().filter(|name| is_file(name)) {
        all.push(of_file(file)?);
    }
    let is_of = |defect: &Defect, name: &str| defect.id == name || defect.suite() == name;
    if let Some(name) = options.which.iter().find(|name| !all.iter().any(|defect| is_of(defect, name))) {
        return Err(CommandError::usage(format!(
            "{name}: no such suite or defect (truebench selftest --list shows them); a file of your own ends in .toml"
        )));
    }
    if !options.all {
        // The most detectors for the time.
        all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    }
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut chosen: Vec<(usize, Defect)> = Vec::new();
    for defect in all {
        let is_named = options.which.contains(&defect.id);
        let is_asked = options.which.is_empty() || options.which.iter().any(|name| is_of(&defect, name));
        if is_asked && (is_named || options.all || options.list || defect.only_with_all.is_none()) {
            let turn = turns.entry(defect.suite().to_owned()).or_default();
            *turn += 1;
            chosen.push((*turn, defect));
        }
    }
    if !options.all {
        chosen.sort_by_key(|(turn, _)| *turn);
    }
    Ok(chosen.into_iter().map(|(_, defect)| defect).collect())
}

/// Whether a name is the file of a defect.
fn is_file(name: &str) -> bool {
    name.ends_with(".toml")
}

fn of_file(file: &str) -> Result<Defect, CommandError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| CommandError::usage(format!("{file}: cannot be read: {}", system_error(&error))))?;
    Defect::parse(file, &text).map_err(CommandError::usage)
}

fn description(defect: &Defect) -> String {
    let why =
        defect.only_with_all.as_ref().map(|why| format!("; only with --all: {why}")).unwrap_or_default();
    format!("{}; planted by {}{why}", defect.defect, defect.planted)
}

/// Each defect and its clean twin, as often as asked, as far as the time goes; none of those that were not
/// tried.
fn tried(site: &Site, host: &Host, chosen: &[Defect], options: &Selftest) -> Vec<Row> {
    let unlimited = options.all || options.which.iter().any(|name| name.contains('/') || is_file(name));
    let most = options.max_time.unwrap_or(if unlimited { f64::INFINITY } else { MAX_TIME });
    let start = Instant::now();
    // What takes longer here than it should does not take more than there is.
    let is_over = || start.elapsed().as_secs_f64() > most || (site.is_interrupted)();
    let site = &Site { is_interrupted: &is_over, ..*site };
    let mut rows = Vec::new();
    for defect in chosen {
        let mut row = Row::new(defect);
        let has_time = || start.elapsed().as_secs_f64() + 2.0 * defect.seconds <= most && !is_over();
        for _ in 0..options.repeat {
            if !has_time() {
                break;
            }
            let run = |trial: &dyn Fn() -> Trial| host.undisturbed(trial, has_time);
            if let Err(why) = once(site, defect, &mut row, run) {
                row.not_here(why);
                break;
            }
        }
        if row.trials == 0 && row.not_here.is_none() {
            continue;
        }
        if !options.quiet {
            // Progress is worth no failure.
            let _ = writeln!(std::io::stderr(), "{}", outcome(&row));
        }
        rows.push(row);
    }
    rows.sort_by_key(|row| chosen_order(&row.suite));
    rows
}

/// Plants it once, and runs its clean twin once.
///
/// # Errors
/// Why it cannot be planted here.
fn once(
    site: &Site,
    defect: &Defect,
    row: &mut Row,
    run: impl Fn(&dyn Fn() -> Trial) -> (Trial, usize),
) -> Result<(), String> {
    let (planted, again) = run(&|| site.plant(defect));
    row.disturbed += again;
    let (answer, missing) = match planted {
        Trial::Record(record) => (answer::planted(defect, &record), answer::not_available(defect, &record)),
        Trial::NotHere(why) => return Err(why),
        Trial::Refused(why) => (Answer::Missed(why.clone()), Some(why)),
        Trial::Broken(how) => (Answer::Missed(how), None),
        Trial::Interrupted => return Ok(()),
    };
    let (clean, again) = run(&|| site.clean(defect));
    row.disturbed += again;
    // What cannot be measured here with the defect or without it is not the detector's fault.
    let is_without = match &clean {
        Trial::Record(record) => answer::not_available(defect, record).is_some(),
        Trial::Refused(_) => true,
        Trial::NotHere(_) | Trial::Broken(_) | Trial::Interrupted => false,
    };
    if let Some(why) = missing.filter(|_| is_without) {
        return Err(why);
    }
    row.planted(answer);
    match clean {
        Trial::Record(record) => row.clean(answer::clean(defect, &record)),
        Trial::NotHere(why) => row.twin_not_here(&why),
        Trial::Refused(how) | Trial::Broken(how) => row.clean(Twin::Mute(how)),
        Trial::Interrupted => {}
    }
    Ok(())
}

/// Runs with nothing planted, of all suites or those that are named, and how many of them the user did not
/// wait for.
fn with_nothing(site: &Site, host: &Host, options: &Selftest) -> Clean {
    let is_asked = |run: &str| {
        options.which.is_empty() || options.which.iter().any(|name| suite_of(name) == suite_of(run))
    };
    let runs: Vec<&str> = RUNS.iter().copied().filter(|run| is_asked(run)).collect();
    let mut clean = clean_turns(site, host, options, &runs);
    clean.left = options.clean_runs as usize * runs.len() - clean.tried();
    clean
}

/// These runs in turn. Every second one is compared with the one before of the same suite.
fn clean_turns(site: &Site, host: &Host, options: &Selftest, runs: &[&str]) -> Clean {
    let mut clean = Clean::default();
    let mut before: Vec<Option<Record>> = runs.iter().map(|_| None).collect();
    for turn in 0..options.clean_runs {
        for (run, before) in runs.iter().zip(&mut before) {
            let (came, again) = host.undisturbed(|| site.alone(run), || !(site.is_interrupted)());
            clean.disturbed += again;
            match came {
                Trial::Record(record) => {
                    clean.add(&record);
                    match before.take() {
                        Some(first) => clean.compared(&standings(&first, &record)),
                        None => *before = Some(*record),
                    }
                }
                Trial::NotHere(why) | Trial::Refused(why) | Trial::Broken(why) => clean.broken.push(why),
                Trial::Interrupted => return clean,
            }
        }
        if !options.quiet {
            let total = clean.total();
            let _ = writeln!(
                std::io::stderr(),
                "clean turn {} of {}: {} of {} figures valid",
                turn + 1,
                options.clean_runs,
                total.valid,
                total.figures
            );
        }
    }
    clean
}

/// The suite of a defect's name, or of a run's arguments: their first word.
fn suite_of(name: &str) -> &str {
    name.split(['/', ' ']).next().unwrap_or(name)
}

/// The verdict of comparing each figure of two records, and whether it is valid in both.
fn standings(first: &Record, second: &Record) -> Vec<(String, &'static str, bool)> {
    let named = [first, second].map(|record| Named { name: String::new(), record });
    let comparison = compare::compare(&named, &Rules::default());
    let pairs = comparison.map(|comparison| comparison.pairs).unwrap_or_default();
    let figures = pairs.iter().flat_map(|pair| &pair.figures);
    let is_valid = |verdicts| verdicts == [Some(Verdict::Valid); 2];
    let word = |figure: &Compared| match figure.ratio {
        Some(ratio) if ratio.low.is_none() => quiet::NO_INTERVAL,
        _ => figure.standing.word(),
    };
    figures.map(|figure| (figure.id.clone(), word(figure), is_valid(figure.verdicts))).collect()
}

fn outcome(row: &Row) -> String {
    let what = match &row.not_here {
        Some(why) => format!("not here: {}", figure::format::plain_to(why, 100)),
        None if row.unexpected.is_empty() => "caught".to_owned(),
        None => row
            .unexpected
            .first()
            .map_or("not caught".to_owned(), |answer| figure::format::plain_to(answer, 160)),
    };
    format!("{}: {what}", row.id)
}

/// The suites in the order in which truebench names them.
fn chosen_order(suite: &str) -> usize {
    let suites = [memory::SUITE, system::SUITE, alloc::SUITE, faults::SUITE, http::SUITE];
    suites.iter().position(|known| *known == suite).unwrap_or(suites.len())
}
