//! Settings or code that make a program take fewer page faults, by its allocator and the mechanism. Pure.
//!
//! The tables say what a setting is, what it costs, and whether the memory that it keeps has a bound. Whether
//! it helps a program is proved by running it ([`prove`](crate::prove)), never assumed. An allocator is a
//! file, and a line in [`of_manager`].

mod any;
mod glibc;
mod go;
mod jemalloc;
mod jvm;
mod mimalloc;
mod php;
mod python;
mod rpmalloc;
mod ruby;
mod scudo;
mod setting;
mod tbbmalloc;
mod tcmalloc;
mod v8;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use suites::faults::{Manager, Mechanism};

pub use setting::{Assignment, Build, PREFIXES, Setting, Version, Way};

struct Syntax {
    variable: &'static str,
    /// Between two options.
    between: u8,
    /// Between an option and its value.
    assigns: &'static str,
}

/// Variables that hold several options; all others hold one value.
const LISTS: &[Syntax] = &[
    Syntax { variable: glibc::TUNABLES, between: b':', assigns: "=" },
    Syntax { variable: jemalloc::CONF, between: b',', assigns: ":" },
    Syntax { variable: scudo::OPTIONS, between: b':', assigns: "=" },
    Syntax { variable: go::DEBUG, between: b',', assigns: "=" },
    Syntax { variable: jvm::OPTIONS, between: b' ', assigns: "" },
    Syntax { variable: v8::OPTIONS, between: b' ', assigns: "=" },
];

/// That of a variable with several options.
fn syntax(variable: &str) -> Option<&'static Syntax> {
    LISTS.iter().find(|syntax| syntax.variable == variable)
}

/// The settings of an allocator, in the order in which they are tried.
pub fn of_manager(manager: Manager) -> &'static [Setting] {
    match manager {
        Manager::Glibc => glibc::settings(),
        Manager::Jemalloc => jemalloc::SETTINGS,
        Manager::Mimalloc => mimalloc::SETTINGS,
        Manager::Tcmalloc => tcmalloc::SETTINGS,
        Manager::GoogleTcmalloc => tcmalloc::GOOGLE,
        Manager::Tbbmalloc => tbbmalloc::SETTINGS,
        Manager::Scudo => scudo::SETTINGS,
        Manager::Go => go::SETTINGS,
        Manager::Jvm => jvm::SETTINGS,
        Manager::Pymalloc => python::SETTINGS,
        Manager::V8 => v8::SETTINGS,
        Manager::Zend => php::SETTINGS,
        Manager::Ruby => ruby::SETTINGS,
        Manager::Rpmalloc => rpmalloc::SETTINGS,
        // None of these has a setting that keeps free memory: only the program or another allocator can help.
        Manager::Musl | Manager::Hoard | Manager::Snmalloc | Manager::Program => &[],
    }
}

/// Settings against a mechanism: the allocator's, as far as this build has them, then those for any; bounded ones
/// first, parts of others last.
pub fn against(build: &Build, mechanism: Mechanism) -> Vec<&'static Setting> {
    let general = any::SETTINGS.iter().filter(|setting| any::is_for(setting, build.manager));
    let is_there =
        |setting: &&Setting| !setting.is_set_from_outside() || setting.way(build.version).is_some();
    let mut settings: Vec<&'static Setting> = of_manager(build.manager)
        .iter()
        .filter(is_there)
        .chain(general)
        .filter(|setting| setting.against.contains(&mechanism))
        .collect();
    // Stable: within these the tables' order stays.
    settings.sort_by_key(|setting| (setting.is_part, !setting.is_bounded));
    settings
}

/// Settings that can be tried from outside.
pub fn to_try(build: &Build) -> Vec<(&'static Setting, &'static Way)> {
    let settings = of_manager(build.manager).iter();
    settings.filter_map(|setting| Some((setting, setting.way(build.version)?))).collect()
}

/// The variables that set it, as NAME and value. In a variable with options, options of other names that the
/// user has set stay.
pub fn environment(
    way: &Way,
    build: &Build,
    present: impl Fn(&str) -> Option<OsString>,
) -> Vec<(String, OsString)> {
    let mut all: Vec<(String, OsString)> = Vec::new();
    for assignment in way.assignments {
        let variable = format!("{}{}", build.prefix, assignment.variable);
        let index = all.iter().position(|(name, _)| *name == variable).unwrap_or_else(|| {
            let before = present(&variable).unwrap_or_default();
            all.push((variable, before));
            all.len() - 1
        });
        let value = &mut all[index].1;
        *value = match syntax(assignment.variable) {
            Some(syntax) => merged(syntax, value, assignment),
            None => OsString::from(assignment.value),
        };
    }
    all
}

/// With what a program was started: its command line and its environment, each word followed by a zero byte
/// (/proc/PID/cmdline, /proc/PID/environ).
#[derive(Clone, Debug, Default)]
pub struct Start {
    pub words: Vec<u8>,
    pub environment: Vec<u8>,
}

impl Start {
    /// The settings that it has already, each as `MANAGER.PREFIX.WORD`, by the prefix of the build that reads them.
    pub fn settings(&self) -> Vec<String> {
        let mut all = Vec::new();
        for manager in Manager::ALL {
            for prefix in if *manager == Manager::Jemalloc { PREFIXES } else { &[""] } {
                let there = of_manager(*manager).iter().filter(|setting| self.has(setting, prefix));
                all.extend(there.map(|setting| format!("{manager}.{prefix}.{}", setting.word)));
            }
        }
        all
    }

    /// Whether it has all assignments of one of its ways. Of a Java virtual machine, whose options come from everywhere, the first that is no
    /// permission for the others decides.
    fn has(&self, setting: &'static Setting, prefix: &str) -> bool {
        let is_prelude =
            |one: &&Assignment| [":+Ignore", ":+Unlock"].iter().any(|part| one.option.contains(part));
        setting.ways.iter().any(|way| {
            let most = if way.assignments[0].variable == jvm::OPTIONS { 1 } else { usize::MAX };
            let mut deciding = way.assignments.iter().skip_while(is_prelude).take(most);
            deciding.all(|one| self.assigns(one, prefix))
        })
    }

    /// Whether it has this assignment, or the same with a larger number. Of a number below 1 the larger ones are something else.
    fn assigns(&self, Assignment { variable, option, value }: &Assignment, prefix: &str) -> bool {
        let syntax = syntax(variable);
        let name = format!("{option}{}", syntax.map_or("", |syntax| syntax.assigns));
        let is_as_large = |there: &[u8]| match std::str::from_utf8(there).map(str::parse::<i64>) {
            Ok(Ok(there)) => {
                value.parse().is_ok_and(|value: i64| there == value || value > 0 && there > value)
            }
            _ => there == value.as_bytes(),
        };
        let is_it = |word: &[u8]| word.strip_prefix(name.as_bytes()).is_some_and(is_as_large);
        let in_environment = self.environment.split(|byte| *byte == 0).any(|text| {
            let text =
                text.strip_prefix(prefix.as_bytes()).and_then(|text| text.strip_prefix(variable.as_bytes()));
            text.and_then(|text| text.strip_prefix(b"=")).is_some_and(|text| match syntax {
                Some(syntax) => text.split(|byte| *byte == syntax.between).any(is_it),
                None => is_as_large(text),
            })
        });
        // Options of runtimes, which are also words of a command.
        let is_word = name.starts_with('-') && self.words.split(|byte| *byte == 0).any(is_it);
        in_environment || is_word
    }
}

/// The options that a variable has already, with one added or replaced.
fn merged(syntax: &Syntax, before: &OsStr, assignment: &Assignment) -> OsString {
    let name = format!("{}{}", assignment.option, syntax.assigns);
    let others = before.as_bytes().split(|byte| *byte == syntax.between);
    let others = others.filter(|option| !option.is_empty() && !option.starts_with(name.as_bytes()));
    let option = format!("{name}{}", assignment.value);
    let all: Vec<&[u8]> = others.chain([option.as_bytes()]).collect();
    OsString::from_vec(all.join(&syntax.between))
}

#[cfg(test)]
mod unit {
    use super::*;

    fn settings() -> impl Iterator<Item = (Manager, &'static Setting)> {
        Manager::ALL.iter().flat_map(|manager| of_manager(*manager).iter().map(|setting| (*manager, setting)))
    }

    const NEW_GLIBC: Build = Build { manager: Manager::Glibc, version: Some((2, 43)), prefix: "" };

    #[test]
    fn settings_are_ordered_and_only_some_mechanisms_have_none() {
        for manager in Manager::ALL {
            for mechanism in Mechanism::ALL {
                let settings = against(&Build::newest(*manager), *mechanism);
                assert!(settings.iter().all(|setting| setting.against.contains(mechanism)));
                let order: Vec<_> =
                    settings.iter().map(|setting| (setting.is_part, !setting.is_bounded)).collect();
                assert!(order.is_sorted(), "{manager} {mechanism}: bounded ones first");
            }
        }
        let without =
            |mechanism: &&Mechanism| against(&Build::newest(Manager::Program), **mechanism).is_empty();
        let without: Vec<_> = Mechanism::ALL.iter().filter(without).collect();
        assert_eq!(without, [&Mechanism::Unexplained]);
    }

    #[test]
    fn each_setting_is_whole() {
        for (manager, setting) in settings() {
            let all = of_manager(manager).iter().chain(any::SETTINGS);
            assert_eq!(
                all.filter(|other| other.word == setting.word).count(),
                1,
                "{manager} {}",
                setting.word
            );
            assert!(
                setting.word != suites::settings::BASE && !setting.against.is_empty(),
                "{}",
                setting.word
            );
            assert!(setting.word.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", setting.word);
            assert!(!setting.about.is_empty() && !setting.price.is_empty(), "{}", setting.word);
            assert!(setting.is_set_from_outside() || !setting.code.is_empty(), "{}", setting.word);
            for way in setting.ways {
                assert!(way.since < way.until && !way.assignments.is_empty(), "{}", setting.word);
                for assignment in way.assignments {
                    let is_list = LISTS.iter().any(|syntax| syntax.variable == assignment.variable);
                    assert_eq!(is_list, !assignment.option.is_empty(), "{}", assignment.variable);
                }
            }
            let overlap = setting.ways.iter().enumerate().any(|(index, way)| {
                setting.ways[..index].iter().any(|other| way.since < other.until && other.since < way.until)
            });
            assert!(!overlap, "{}: two ways in one version", setting.word);
        }
    }

    #[test]
    fn the_users_settings_stay() {
        let way = glibc::settings()
            .iter()
            .find(|setting| setting.word == "both")
            .unwrap()
            .way(Some((2, 36)))
            .unwrap();
        let set = |before: Option<&str>| {
            let present = |name: &str| before.filter(|_| name == glibc::TUNABLES).map(OsString::from);
            let all = environment(way, &NEW_GLIBC, present);
            assert_eq!(all.len(), 1);
            all[0].1.to_str().unwrap().to_owned()
        };
        let both = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=-1";
        assert_eq!(set(None), both);
        assert_eq!(set(Some("glibc.malloc.check=3")), format!("glibc.malloc.check=3:{both}"));
        assert_eq!(set(Some("glibc.malloc.mmap_max=7:a=b")), format!("a=b:{both}"));
        assert_eq!(set(Some(both)), both, "set once");
        // Bytes that are no UTF-8 stay as they are.
        let odd = OsString::from_vec(b"x=\xff:glibc.malloc.mmap_max=1".to_vec());
        let all = environment(way, &NEW_GLIBC, |_| Some(odd.clone()));
        assert!(all[0].1.as_bytes().starts_with(b"x=\xff:glibc.malloc.mmap_max=0"));
    }

    #[test]
    fn settings_with_which_a_program_was_started() {
        let of = |words: &[&str], environment: &[&str]| {
            let text = |all: &[&str]| all.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
            Start { words: text(words), environment: text(environment) }.settings()
        };
        let heap = ["java", "-Xms1g", "-XX:+AlwaysPreTouch", "-XX:MaxHeapFreeRatio=100", "Main"];
        assert_eq!(of(&heap, &[]), ["jvm..keep-heap", "jvm..pretouch"]);
        assert_eq!(of(&["java", "-XX:-AlwaysPreTouch", "-XX:MaxHeapFreeRatio=20"], &[]), [""; 0]);
        assert_eq!(of(&[], &["JAVA_TOOL_OPTIONS=-Xmx1g -XX:+AlwaysPreTouch"]), ["jvm..pretouch"]);
        let uncommit = ["java", "-XX:+UnlockExperimentalVMOptions", "-XX:-ZUncommit"];
        assert_eq!(of(&uncommit, &[]), ["jvm..no-uncommit"]);
        assert_eq!(of(&uncommit[..2], &[]), [""; 0]);
        assert_eq!(of(&["node", "--max-semi-space-size=128", "x.js"], &[]), ["v8..semi-space"]);
        let tunables = |values| of(&[], &[&format!("GLIBC_TUNABLES={values}")]);
        assert_eq!(tunables("glibc.malloc.check=3:glibc.malloc.hugetlb=1"), ["glibc..hugetlb"]);
        let threshold = "glibc.malloc.mmap_threshold=67108864";
        assert_eq!(tunables(threshold), [""; 0], "the other one is frozen");
        let both = format!("{threshold}:glibc.malloc.trim_threshold=268435456");
        assert_eq!(tunables(&both), ["glibc..thresholds"]);
        assert_eq!(tunables(&both.replace("67108864", "1000000")), [""; 0], "a smaller one");
        assert_eq!(of(&["x", "GOGC=800"], &["GOGC=800", "MYGOGC=900"]), ["go..gogc"]);
        assert_eq!(of(&["x", "GOGC=800"], &["GOGC=100", "MYGOGC=900"]), [""; 0]);
        let decays = "MALLOC_CONF=dirty_decay_ms:30000,muzzy_decay_ms:60000";
        assert_eq!(of(&[], &[decays]), ["jemalloc..decay"]);
        assert_eq!(of(&[], &[&format!("_RJEM_{decays}")]), ["jemalloc._RJEM_.decay"]);
        for other in [
            "MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0",
            "MIMALLOC_PURGE_DELAY=0",
            "MIMALLOC_PURGE_DECOMMITS=1",
            "GODEBUG=madvdontneed=1",
            "GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072:glibc.malloc.mmap_max=65536",
            "PYTHONMALLOC=malloc_debug",
            "=",
        ] {
            assert_eq!(of(&[], &[other]), [""; 0], "{other}");
        }
    }

    #[test]
    fn versions_have_what_they_have() {
        let words = |manager, version| -> Vec<&str> {
            let build = Build { version, ..Build::newest(manager) };
            to_try(&build).iter().map(|(setting, _)| setting.word).collect()
        };
        assert!(words(Manager::Glibc, Some((2, 42))).contains(&"tcache"));
        assert!(!words(Manager::Glibc, Some((2, 41))).contains(&"tcache"));
        assert!(words(Manager::Glibc, Some((2, 36))).contains(&"hugetlb"));
        assert!(!words(Manager::Glibc, Some((2, 31))).contains(&"hugetlb"));
        let old = of_manager(Manager::Glibc)[0].way(Some((2, 17))).unwrap();
        assert!(
            old.assignments.iter().all(|assignment| assignment.variable.starts_with("MALLOC_")),
            "no tunables yet"
        );
        let variable = |version| {
            let setting = of_manager(Manager::Mimalloc)[0].way(Some(version));
            setting.map(|way| way.assignments[0].variable)
        };
        assert_eq!(variable((2, 0)), Some("MIMALLOC_DECOMMIT_DELAY"));
        assert_eq!(variable((3, 3)), Some("MIMALLOC_PURGE_DELAY"));
        assert!(words(Manager::Musl, None).is_empty() && words(Manager::Program, None).is_empty());
    }

    #[test]
    fn delays_do_not_reach_large_blocks() {
        let reaching = |manager, version, block: f64| -> Vec<&str> {
            let settings = of_manager(manager).iter().filter(|setting| setting.reaches(block, version));
            settings.map(|setting| setting.word).collect()
        };
        let mib = f64::from(1 << 20);
        let first = |block| reaching(Manager::Jemalloc, Some((5, 3)), block)[0];
        assert_eq!([7.9, 8.0, 20.0].map(|size| first(size * mib)), ["decay", "decay-large", "decay-large"]);
        assert!(!reaching(Manager::Jemalloc, None, 20.0 * mib).contains(&"decay"), "all versions");
        let glibc =
            |version, size: f64| reaching(Manager::Glibc, Some(version), size * mib).contains(&"thresholds");
        assert_eq!([31.0, 32.0, 63.0].map(|size| glibc((2, 31), size)), [true, false, false]);
        assert_eq!([32.0, 63.0, 64.0].map(|size| glibc((2, 36), size)), [true, true, false]);
        let mimalloc = |version, size: f64| reaching(Manager::Mimalloc, version, size * mib).len();
        let all = of_manager(Manager::Mimalloc).len();
        assert_eq!([15.0, 20.0].map(|size| mimalloc(Some((2, 2)), size)), [all, 0]);
        assert_eq!([Some((3, 0)), None].map(|version| mimalloc(version, 20.0)), [all; 2]);
    }

    /// The variables that a manager reads: any other on its list would be another's, and do nothing.
    fn own_variables(manager: Manager) -> &'static [&'static str] {
        match manager {
            Manager::Glibc => &["GLIBC_TUNABLES", "MALLOC_"],
            Manager::Jemalloc => &["MALLOC_CONF"],
            Manager::Mimalloc => &["MIMALLOC_"],
            Manager::Tcmalloc => &["TCMALLOC_"],
            Manager::Tbbmalloc => &["TBB_MALLOC_"],
            Manager::Scudo => &["SCUDO_OPTIONS"],
            Manager::Go => &["GOGC", "GODEBUG", "GOMEMLIMIT"],
            Manager::Jvm => &["JAVA_TOOL_OPTIONS"],
            Manager::Pymalloc => &["PYTHONMALLOC"],
            Manager::V8 => &["NODE_OPTIONS"],
            Manager::Zend => &["USE_ZEND_ALLOC"],
            Manager::Ruby => &["RUBY_GC_"],
            _ => &[],
        }
    }

    #[test]
    fn no_setting_of_another_manager_is_advised_for_any_mechanism() {
        for manager in Manager::ALL {
            let own = own_variables(*manager);
            for (mechanism, version) in
                Mechanism::ALL.iter().flat_map(|one| [(one, None), (one, Some((2, 43)))])
            {
                let build = Build { version, ..Build::newest(*manager) };
                let ways = against(&build, *mechanism).into_iter().filter_map(|setting| setting.way(version));
                for assignment in ways.flat_map(|way| way.assignments) {
                    let is_own = own.iter().any(|beginning| assignment.variable.starts_with(beginning));
                    assert!(is_own, "{manager} {mechanism}: {}", assignment.variable);
                }
            }
        }
    }

    #[test]
    fn words_of_managers_in_one_process_differ() {
        let runtimes = Manager::ALL.iter().filter(|manager| manager.is_runtime());
        for (runtime, malloc) in runtimes.flat_map(|one| Manager::ALL.iter().map(move |other| (one, other))) {
            let words = |manager: &Manager| of_manager(*manager).iter().map(|setting| setting.word);
            let common =
                words(runtime).find(|word| !malloc.is_runtime() && words(malloc).any(|one| one == *word));
            assert_eq!(common, None, "{runtime} and {malloc}");
        }
    }

    #[test]
    fn variables_have_the_prefix_of_the_build() {
        let way = of_manager(Manager::Jemalloc)[0].way(None).unwrap();
        let build = Build { prefix: "_RJEM_", ..Build::newest(Manager::Jemalloc) };
        let present = |name: &str| (name == "_RJEM_MALLOC_CONF").then(|| OsString::from("narenas:1"));
        let all = environment(way, &build, present);
        assert_eq!(all[0].0, "_RJEM_MALLOC_CONF");
        assert!(all[0].1.to_str().unwrap().starts_with("narenas:1,dirty_decay_ms:"), "{all:?}");
    }

    /// The largest size that malloc takes: malloc.c refuses more, and says nothing.
    #[test]
    fn the_cache_of_threads_takes_its_limit() {
        let way = of_manager(Manager::Glibc).iter().find(|setting| setting.word == "tcache").unwrap();
        let value = |option: &str| -> u64 {
            let mut all = way.way(Some((2, 43))).unwrap().assignments.iter();
            all.find(|assignment| assignment.option.ends_with(option)).unwrap().value.parse().unwrap()
        };
        let largest = value("tcache_max");
        // request2size and large_csize2tidx of 2.42 and 2.43, of 64 bits; there are 76 bins, of which 64 are small.
        let bin = |request: u64| {
            let chunk = (request + 8 + 15) & !15;
            64 + (63 * 16 + 32_u32).leading_zeros() - u32::try_from(chunk).unwrap().leading_zeros()
        };
        assert!(bin(largest) < 76 && bin(largest + 1) >= 76);
        assert!(value("mmap_threshold") >= largest, "mapped blocks are not cached, or never found again");
    }
}
