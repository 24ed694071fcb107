//! What moves the figures of a class besides the machine's speed, and how it is seen in a record: the second half of the class
//! table, and all that causes are told from.

use figure::evidence::{
    CELL_LIBRARIES, CELL_LINKAGE, FS_OPTIONS, FS_TYPE, FactType, HOP_TOGETHER, Key, LIBC, LIBC_STRCMP,
    LOCALE_CHARMAP, LOCALE_COLLATE, SHELL, SHELL_TOOLS,
};
use figure::format::plain_to;

use crate::gate::{Side, last_level};

/// Something besides the machine's speed that moves the figures of a class, and how it is seen.
pub(super) struct Suspect {
    /// What it is, in words.
    pub about: &'static str,
    /// How it is here; `None` where it is not recorded.
    pub seen: fn(&Side) -> Option<String>,
    /// What it means if it is not the same.
    pub means: &'static str,
}

const fn suspect(about: &'static str, seen: fn(&Side) -> Option<String>, means: &'static str) -> Suspect {
    Suspect { about, seen, means }
}

fn fact<T: FactType>(side: &Side, key: Key<T>) -> Option<T> {
    side.figure.evidence.get(key).into_value()
}

fn text(side: &Side, key: Key<String>) -> Option<String> {
    fact(side, key).filter(|text| !text.is_empty()).map(|text| plain_to(&text, 60))
}

fn setting(side: &Side, name: &str) -> Option<String> {
    let setting = side.record.machine.kernel.setting(name)?;
    setting.value.value().map(|value| plain_to(value, 60))
}

/// From this share of the looks on, two tasks are said to be where they were found.
const MOSTLY: f64 = 0.9;

/// Where the two tasks really were.
fn together(side: &Side) -> Option<String> {
    let shares = side.figure.over_rounds(HOP_TOGETHER).into_value()?;
    let share = figure::stats::median(&shares)?;
    let place = match share {
        share if share >= MOSTLY => "on one CPU",
        share if share <= 1.0 - MOSTLY => "on two CPUs",
        _ => "now on one CPU, now on two",
    };
    Some(place.to_owned())
}

/// Whether a wake-up has other CPUs to choose from; how many does not matter.
fn shared_cache(side: &Side) -> Option<String> {
    match last_level(&side.record.machine)? {
        0 | 1 => Some("one for each CPU".to_owned()),
        _ => Some("shared by several CPUs".to_owned()),
    }
}

fn kernel(side: &Side) -> Option<String> {
    side.record.machine.kernel.release.value().map(|release| plain_to(release, 60))
}

const KERNEL: Suspect = suspect("kernel", kernel, "the kernels are not the same");
const MITIGATIONS: Suspect = suspect(
    "mitigations",
    |side| setting(side, "mitigations"),
    "what is done against the processor's vulnerabilities makes entering the kernel dearer",
);
const SCHEDULER: Suspect =
    suspect("scheduler", |side| setting(side, "sched_ext_ops"), "another scheduler is loaded (sched_ext)");
const LIBRARY: Suspect = suspect("C library", |side| text(side, LIBC), "the C libraries are not the same");
const FILE_SYSTEM: Suspect =
    suspect("file system", |side| text(side, FS_TYPE), "the files are on another type of file system");

/// What another placement means.
const PLACED: &str = "placement, not hardware: a wake-up looks for an idle CPU among those that share a last-level cache with the \
                      waker's; where it finds none, the two tasks stay on one CPU and no hop pays a wake-up across CPUs";

/// What moves some classes.
pub(super) struct Moved {
    classes: &'static [&'static str],
    /// What does, the most direct first.
    pub suspects: &'static [Suspect],
    /// What it usually is, where the records do not tell.
    pub usual: &'static str,
}

const MOVED: &[Moved] = &[
    Moved {
        classes: &["switching"],
        suspects: &[
            suspect("where the two tasks were", together, PLACED),
            suspect("last-level cache as the kernel sees it", shared_cache, PLACED),
            SCHEDULER,
            KERNEL,
            MITIGATIONS,
        ],
        usual: "placement, not hardware: whether the woken task stays on its waker's CPU or goes to another one decides this figure \
             several-fold (truebench system switch measures both)",
    },
    Moved {
        classes: &["compute"],
        suspects: &[suspect("strcmp", |side| text(side, LIBC_STRCMP), "another strcmp is used"), LIBRARY],
        usual: "the clock, or code that one processor runs better than the others",
    },
    Moved {
        classes: &["process"],
        suspects: &[
            suspect("linkage", |side| text(side, CELL_LINKAGE), "a static program starts much faster"),
            suspect(
                "libraries to load",
                |side| fact(side, CELL_LIBRARIES).map(|count| count.to_string()),
                "a program with more libraries starts more slowly",
            ),
            MITIGATIONS,
            KERNEL,
        ],
        usual: "what is executed or forked, rather than the machine",
    },
    Moved {
        classes: &["files"],
        suspects: &[
            FILE_SYSTEM,
            suspect("mount options", |side| text(side, FS_OPTIONS), "the file system is mounted otherwise"),
            KERNEL,
            MITIGATIONS,
        ],
        usual: "the file system on which the files are",
    },
    Moved {
        classes: &["shell"],
        suspects: &[
            suspect(
                "locale",
                |side| text(side, LOCALE_COLLATE),
                "sort and grep are much faster in the C locale",
            ),
            suspect(
                "character set",
                |side| text(side, LOCALE_CHARMAP),
                "sort and grep go by other characters",
            ),
            suspect("shell", |side| text(side, SHELL), "another shell runs the scripts"),
            suspect("tools", |side| text(side, SHELL_TOOLS), "the scripts use other tools"),
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
            suspect(
                "automatic NUMA balancing",
                |side| setting(side, "numa_balancing"),
                "pages are moved while they are used",
            ),
            suspect(
                "transparent huge pages",
                |side| setting(side, "transparent_hugepage"),
                "memory comes in other pages",
            ),
            suspect(
                "CPUs in use",
                |side| {
                    Some(side.record.machine.topology.usable())
                        .filter(|c| !c.is_empty())
                        .map(|c| c.len().to_string())
                },
                "another number of CPUs moves memory",
            ),
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
const OTHER: Moved = Moved { classes: &[], suspects: &[KERNEL], usual: "not known for figures of this sort" };

/// What moves a class.
pub(super) fn of(class: &str) -> &'static Moved {
    MOVED.iter().find(|moved| moved.classes.contains(&class)).unwrap_or(&OTHER)
}

#[cfg(test)]
mod tests {
    use super::super::classes::WORDS;
    use super::*;

    #[test]
    fn every_class_has_its_suspects() {
        for class in WORDS {
            assert!(!of(class).classes.is_empty() && !of(class).suspects.is_empty(), "{class}");
        }
    }
}
