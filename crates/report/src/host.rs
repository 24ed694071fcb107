//! A machine as `truebench host` prints it: a headline, a drawing of packages, caches, cores and
//! threads, memory, limits, settings, and last, where the eye stays, what may mislead on this machine.
//!
//! What is unknown is printed, dimmed, with the reason. The text carries ANSI styles; callers print it through
//! `anstream`, which drops them where the output is no terminal or NO_COLOR is set. Colour alone carries nothing.

mod domains;
mod drawing;
mod limits;
mod memory;
mod nodes;
mod processor;
mod sheet;

use figure::Machine;
use figure::format::plain;
use figure::host::HostNote;

use crate::groups;
use sheet::Sheet;

/// From this width on a setting's file is printed next to its value.
const WIDTH_FOR_SOURCE: usize = 120;

/// The text of `truebench host`. Lines keep within `width` columns (but not within less than
/// [`MIN_WIDTH`](crate::MIN_WIDTH)), except commands, which stay whole so that they can be copied.
pub fn host(machine: &Machine, notes: &[HostNote], width: usize) -> String {
    let mut sheet = described(machine, width);
    misleading(&mut sheet, notes);
    sheet.text
}

/// The same without what may mislead, and without styles: a record's machine.
pub(crate) fn unstyled(machine: &Machine, width: usize) -> String {
    anstream::adapter::strip_str(&described(machine, width).text).to_string()
}

fn described(machine: &Machine, width: usize) -> Sheet {
    let mut sheet = Sheet::new(width.max(crate::MIN_WIDTH));
    processor::headline(&mut sheet, machine);
    processor::topology(&mut sheet, machine);
    processor::caches(&mut sheet, machine);
    memory::memory(&mut sheet, machine);
    nodes::numa(&mut sheet, machine);
    limits::limits(&mut sheet, machine);
    settings(&mut sheet, machine);
    sheet
}

/// Kernel settings that move figures; unknown ones last, with the reason that they share.
fn settings(sheet: &mut Sheet, machine: &Machine) {
    let kernel = &machine.kernel;
    sheet.title("Settings that move figures");
    let longest = kernel.settings.iter().map(|setting| setting.name.chars().count()).max().unwrap_or(0);
    sheet.set_names(longest.max("boot parameters".len()) + 2);
    sheet.reading("kernel", &kernel.release, |release| plain(release));
    for setting in &kernel.settings {
        if let Some(value) = setting.value.value() {
            let source = if sheet.width < WIDTH_FOR_SOURCE { "" } else { &setting.source };
            sheet.entry_with_source(&plain(&setting.name), &plain(value), &plain(source));
        }
    }
    if kernel.settings.is_empty() {
        sheet.note("none could be read");
    }
    // The longest value of all, and the last resort in a search for a difference between machines.
    sheet.reading("boot parameters", &kernel.command_line, |line| plain(line));
    let unknown = kernel.settings.iter();
    let unknown = unknown.filter_map(|setting| Some((setting.value.reason()?, plain(&setting.name))));
    for (reason, names) in groups::in_order(unknown) {
        sheet.note(&format!("{} {}", names.join(", "), sheet::unknown(reason)));
    }
}

/// Each note with its reason, and the command that would change it on a line of its own.
fn misleading(sheet: &mut Sheet, notes: &[HostNote]) {
    sheet.title("What may mislead here");
    if notes.is_empty() {
        sheet.note("nothing that truebench knows of");
    }
    for note in notes {
        let blinds = match note.blinds.as_slice() {
            [] => String::new(),
            [check] => format!(". No evidence for the check {check}"),
            checks => format!(". No evidence for the checks {}", checks.join(", ")),
        };
        sheet.warning(&plain(&note.about), &plain(&(note.reason.clone() + &blinds)));
        if let Some(command) = &note.command {
            sheet.command(command);
        }
    }
    if notes.iter().any(|note| note.command.is_some()) {
        sheet.line(0, "");
        sheet.note("truebench changes nothing on its own; → is the command that does");
    }
}
