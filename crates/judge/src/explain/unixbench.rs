//! Tests of UnixBench's kind: several copies against one, file copies, and what a figure rests on apart from the machine: libraries,
//! programs, locale.

use figure::format;

use super::support::*;
use crate::cases::system::Relative;
use crate::check::SWITCHING;
use crate::relations::partner::{Side, side_scaled};

const FILES: &str = "files";
/// Below this share of the time no task waited for a device.
const NO_WAIT: f64 = 0.01;
/// File systems that have no device (tmpfs(5)).
const IN_MEMORY: &[&str] = &["tmpfs", "ramfs"];
/// Locales in which strings are compared byte by byte; so they are in UTF-8 without a language, since glibc 2.35 (its NEWS).
const BYTEWISE: &[&str] = &["C", "POSIX", "C.UTF-8", "C.utf8"];

pub(super) fn copies(subject: &Subject) -> Option<System> {
    let figure = subject.figure;
    let count = figure.conditions.get(COPIES).filter(|copies| *copies > 1.0)?;
    figure.conditions.get(TEST)?;
    // Of the same mode.
    let mut single = others(subject).filter(|other| other.conditions.get(COPIES) == Some(1.0));
    let single = single.find(|other| other.series == figure.series && same(other, figure, TEST))?;
    let one = Relative::of(figure, single)?;
    let (copies, each) = (Count(count), Share(one.ratio.0 / count));
    let cpus = subject.machine().topology.usable().len() as f64;
    let is_switching = is(figure, TEST_CLASS, SWITCHING);
    Some(match side_scaled(figure, single, 1.0 / count)? {
        Side::Inconclusive => return None,
        _ if count > cpus => System::CopiesTakeTurns { copies, cpus: Counted(cpus, "CPU"), each, one },
        Side::Same => System::CopiesScale { copies, each, one },
        Side::Below => System::CopiesLimited { copies, each, one },
        Side::Above if is_switching => System::CopiesPlaced { copies, each, one },
        Side::Above => System::CopiesExceedOne { copies, each, one },
    })
}

pub(super) fn page_cache(subject: &Subject) -> Option<System> {
    let figure = subject.figure;
    figure.conditions.get(TEST)?;
    figure.conditions.get(TEST_CLASS).filter(|class| class == FILES)?;
    let file_system = figure.evidence.get(FS_TYPE).into_value();
    if let Some(file_system) = file_system.filter(|kind| IN_MEMORY.contains(&kind.as_str())) {
        return Some(System::FilesInMemory { file_system });
    }
    let waited = figure.sum(PSI_IO).into_value().map(|seconds| seconds / subject.seconds());
    Some(match waited {
        Some(share) if share < NO_WAIT => System::FilesInPageCache { waited: Share(share) },
        Some(share) => System::FilesWaitForDevice { waited: Share(share) },
        None => System::FilesPerhapsWait,
    })
}

pub(super) fn surroundings(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    figure.conditions.get(COPIES)?;
    let evidence = &figure.evidence;
    Some(match figure.conditions.get(TEST_CLASS)?.as_str() {
        "compute" => Topology::CLibrary {
            library: evidence.get(LIBC).into_value()?,
            strcmp: evidence.get(LIBC_STRCMP).into_value(),
        },
        "process" => Topology::ProgramImage {
            linkage: evidence.get(CELL_LINKAGE).into_value()?,
            size: Bytes(evidence.get(CELL_BYTES).into_value()?),
            libraries: Counted(evidence.get(CELL_LIBRARIES).into_value()?, "shared object"),
        },
        "shell" => {
            let shell = format::plain_to(&evidence.get(SHELL).into_value()?, 80);
            let locale = evidence.get(LOCALE_COLLATE).into_value()?;
            // `C (there is no en_US.utf8)`.
            let is_bytewise = BYTEWISE.contains(&locale.split(' ').next().unwrap_or_default());
            is_bytewise.then_some(Topology::BytewiseOrder { locale, shell })?
        }
        _ => return None,
    })
}
