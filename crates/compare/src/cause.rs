//! The likely cause of a test that is out of line: what moves the figures of a class apart from the machine's speed, and how a record
//! shows it. The second half of the class table.

use figure::causes;
use figure::check::{PRECISION, ROUNDS};
use figure::evidence::{
    CELL_LIBRARIES, CELL_LINKAGE, FS_OPTIONS, FS_TYPE, HOP_TOGETHER, Key, LIBC, LIBC_STRCMP, LOCALE_CHARMAP,
    LOCALE_COLLATE, SHELL, SHELL_TOOLS,
};
use figure::format::{listed, plain, plain_to};
use figure::stats::median;

use crate::gate::{Side, last_level};

/// Where a record has it.
enum Source {
    /// A fact about the figure.
    Fact(Key<String>),
    /// A setting of the kernel.
    Setting(&'static str),
    /// Something else; `None` where it is not recorded.
    Other(fn(&Side) -> Option<String>),
}
use Source::{Fact, Other, Setting};

/// Something other than the machine's speed that moves the figures of a class: its name, where a record has it, and what it means if it
/// is not the same.
type Suspect = (&'static str, Source, &'static str);

const KERNEL: Suspect = ("kernel", Other(kernel), "the kernels are not the same");
const MITIGATIONS: Suspect = (
    "mitigations",
    Setting("mitigations"),
    "what is done against the processor's vulnerabilities makes entering the kernel dearer",
);
const SCHEDULER: Suspect = ("scheduler", Setting("sched_ext_ops"), "another scheduler is loaded (sched_ext)");
const LIBRARY: Suspect = ("C library", Fact(LIBC), "the C libraries are not the same");
const FILE_SYSTEM: Suspect = ("file system", Fact(FS_TYPE), "the files are on another type of file system");

/// What another placement means.
const PLACED: &str = "placement, not hardware: a wake-up looks for an idle CPU among those that share a last-level cache with the \
                      waker's; where it finds none, the two tasks stay on one CPU and no hop pays a wake-up across CPUs";

/// What moves some classes.
struct Moved {
    classes: &'static [&'static str],
    /// The most direct first.
    suspects: &'static [Suspect],
    /// What it usually is, where the records do not show it.
    usual: &'static str,
}

const MOVED: &[Moved] = &[
    Moved {
        classes: &["switching"],
        suspects: &[
            ("where the two tasks were", Other(placement), PLACED),
            ("last-level cache as the kernel sees it", Other(shared_cache), PLACED),
            SCHEDULER,
            KERNEL,
            MITIGATIONS,
        ],
        usual: "placement, not hardware: whether the woken task stays on its waker's CPU or goes to another one decides this figure \
             several-fold (truebench system switch measures both)",
    },
    Moved {
        classes: &["compute"],
        suspects: &[("strcmp", Fact(LIBC_STRCMP), "another strcmp is used"), LIBRARY],
        usual: "the clock, or code that one processor runs better than the others",
    },
    Moved {
        classes: &["process"],
        suspects: &[
            ("linkage", Fact(CELL_LINKAGE), "a static program starts much faster"),
            ("libraries to load", Other(libraries), "a program with more libraries starts more slowly"),
            MITIGATIONS,
            KERNEL,
        ],
        usual: "what is executed or forked, rather than the machine",
    },
    Moved {
        classes: &["files"],
        suspects: &[
            FILE_SYSTEM,
            ("mount options", Fact(FS_OPTIONS), "the file system is mounted otherwise"),
            KERNEL,
            MITIGATIONS,
        ],
        usual: "the file system on which the files are",
    },
    Moved {
        classes: &["shell"],
        suspects: &[
            ("locale", Fact(LOCALE_COLLATE), "sort and grep are much faster in the C locale"),
            ("character set", Fact(LOCALE_CHARMAP), "sort and grep go by other characters"),
            ("shell", Fact(SHELL), "another shell runs the scripts"),
            ("tools", Fact(SHELL_TOOLS), "the scripts use other tools"),
            FILE_SYSTEM,
            KERNEL,
        ],
        usual: "shell, tools or locale, rather than the machine",
    },
    Moved {
        classes: &["syscall"],
        suspects: &[MITIGATIONS, KERNEL, LIBRARY],
        usual: "what the kernel does at each entry: mitigations, auditing, a filter of system calls",
    },
    Moved {
        classes: &["bandwidth", "latency"],
        suspects: &[
            ("automatic NUMA balancing", Setting("numa_balancing"), "pages are moved while they are used"),
            ("transparent huge pages", Setting("transparent_hugepage"), "memory comes in other pages"),
            ("CPUs in use", Other(usable_cpus), "another number of CPUs moves memory"),
        ],
        usual: "how memory is placed, or how many channels are populated",
    },
    Moved {
        classes: &["serving"],
        suspects: &[KERNEL, MITIGATIONS],
        usual: "what the server and its client share the CPUs with",
    },
];

/// For figures of any other class.
const OTHERS: Moved =
    Moved { classes: &[], suspects: &[KERNEL], usual: "not known for figures of this sort" };

/// From this share of the samples on, two tasks were where the samples found them.
const MOSTLY: f64 = 0.9;

fn kernel(side: &Side) -> Option<String> {
    side.record.machine.kernel.release.value().cloned()
}

/// Where the two tasks really were.
fn placement(side: &Side) -> Option<String> {
    let share = median(&side.figure.over_rounds(HOP_TOGETHER).into_value()?)?;
    let place = match share {
        share if share >= MOSTLY => "on one CPU",
        share if share <= 1.0 - MOSTLY => "on two CPUs",
        _ => "now on one CPU, now on two",
    };
    Some(place.to_owned())
}

/// Whether a wake-up has other CPUs to choose from; how many does not matter.
fn shared_cache(side: &Side) -> Option<String> {
    let is_shared = last_level(&side.record.machine)? > 1;
    Some(if is_shared { "shared by several CPUs" } else { "one for each CPU" }.to_owned())
}

fn libraries(side: &Side) -> Option<String> {
    side.figure.evidence.get(CELL_LIBRARIES).into_value().map(|count| count.to_string())
}

fn usable_cpus(side: &Side) -> Option<String> {
    let usable = side.record.machine.topology.usable();
    (!usable.is_empty()).then(|| usable.len().to_string())
}

impl Source {
    fn value(&self, side: &Side) -> Option<String> {
        let value = match self {
            Fact(key) => side.figure.evidence.get(*key).into_value().filter(|text| !text.is_empty()),
            Setting(name) => side.record.machine.kernel.setting(name)?.value.value().cloned(),
            Other(value) => value(side),
        };
        value.map(|value| plain_to(&value, 60))
    }
}

/// The cause, what is ruled out, and what the records do not have.
///
/// A check that found fault on one side only comes first: that figure was disturbed. Then what moves the class apart from the
/// machine, the first that is not the same. Where nothing differs and all is recorded, it is unexplained.
pub(super) fn cause(a: &Side, b: &Side, class: &str) -> (String, Vec<String>, Vec<String>) {
    let moved = MOVED.iter().find(|moved| moved.classes.contains(&class)).unwrap_or(&OTHERS);
    let (mut ruled_out, mut not_recorded, mut differing) = (Vec::new(), Vec::new(), Vec::new());
    for (name, source, means) in moved.suspects {
        match (source.value(a), source.value(b)) {
            (Some(x), Some(y)) if x == y => ruled_out.push(format!("{name} ({x} in both)")),
            (Some(x), Some(y)) => {
                differing
                    .push((*name, format!("{means} ({name}: {x} in {}, {y} in {})", a.letter, b.letter)));
            }
            _ => not_recorded.push((*name).to_owned()),
        }
    }
    let cause = match (disturbance(a, b), differing.as_slice(), not_recorded.is_empty()) {
        (Some(disturbance), _, _) => disturbance,
        (None, [(_, first)], _) => format!("likely {first}"),
        (None, [(_, first), others @ ..], _) => {
            let others: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
            format!("likely {first}; what differs too and is not excluded: {}", listed(&others))
        }
        (None, [], false) => format!("likely {}; the records do not tell", moved.usual),
        (None, [], true) => format!("unexplained: nothing of what usually moves the class {class} differs"),
    };
    (cause, ruled_out, not_recorded)
}

/// What a check found on one of the sides and not on the other.
fn disturbance(a: &Side, b: &Side) -> Option<String> {
    let one_sided = |side: &Side, other: &Side| {
        let others = causes::reasons(other.figure);
        let only = causes::reasons(side.figure).into_iter().find(|reason| {
            let root = reason.root();
            reason.fix.is_some()
                && ![ROUNDS, PRECISION].contains(&root)
                && others.iter().all(|other| other.root() != root)
        })?;
        let (letter, detail, check) = (side.letter, plain(&only.detail), plain_to(only.root(), 40));
        Some(format!("in {letter} the figure was disturbed: {detail} ({check})"))
    };
    one_sided(a, b).or_else(|| one_sided(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_suspects() {
        for class in crate::CLASSES {
            let moved = MOVED.iter().find(|moved| moved.classes.contains(class));
            assert!(moved.is_some_and(|moved| !moved.suspects.is_empty()), "{class}");
        }
    }
}
