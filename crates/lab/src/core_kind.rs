//! Which kind of core is used on a machine that has several (`--class`). Pure.
//!
//! A figure of performance and efficiency cores together is one of neither. So all figures of a run are of one kind,
//! unless all are asked for.

use figure::evidence::CORE_KIND;
use figure::host::{CoreKind, PERFORMANCE};
use figure::{CpuList, Figure, Machine, Status};

use crate::others;

/// The word for all kinds.
pub const ALL: &str = "all";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassError {
    #[error("--class {class}: all cores of this machine are of one kind{part}: leave it out")]
    OneKind { class: String, part: String },
    #[error(
        "--class {class}: unknown: {why}; choose CPUs instead, such as --places 0-3, or take --class all"
    )]
    Unknown { class: String, why: String },
    #[error("--class {class}: there is no such kind of core here; there are {kinds}, and all{why}")]
    NoSuchKind { class: String, kinds: String, why: String },
    #[error(
        "--class {class}: none of its CPUs ({cpus}) is in the affinity mask of this process ({allowed}): taskset, cpuset"
    )]
    NotAllowed { class: String, cpus: CpuList, allowed: CpuList },
    #[error(
        "--class {class} with {option}: of these, {cpus} are of another kind; there are {kinds}; leave out one of the two options"
    )]
    Contradiction { option: &'static str, cpus: CpuList, class: String, kinds: String },
}

/// CPUs that the user listed, by the option that lists them.
pub type Listed = (&'static str, CpuList);

/// Chooses the kind of core that is used: the one of this name, or all. Without a name, that of the CPUs that the user
/// `listed`; without those, the fastest among the CPUs that may be used. All are used where the fastest is not known, and where listed CPUs
/// are of several kinds.
pub fn choose(machine: &mut Machine, class: Option<&str>, listed: &[Listed]) -> Result<(), ClassError> {
    let used = chosen(machine, class, listed)?;
    machine.topology.cores.used = used;
    Ok(())
}

fn chosen(machine: &Machine, class: Option<&str>, listed: &[Listed]) -> Result<Option<String>, ClassError> {
    let (cores, permitted) = (&machine.topology.cores, machine.topology.permitted());
    let Some(class) = class else {
        let all: CpuList = listed.iter().flat_map(|(_, cpus)| cpus.iter()).collect();
        let kinds = cores.among(if all.is_empty() { &permitted } else { &all });
        let is_clear = kinds.len() == 1 || (all.is_empty() && cores.is_ranked());
        return Ok(kinds.first().filter(|_| is_clear).map(|kind| kind.name.clone()));
    };
    if class == ALL {
        return Ok(None);
    }
    if cores.kinds.is_empty() {
        let class = class.to_owned();
        return match &cores.unknown {
            Some(why) => Err(ClassError::Unknown { class, why: why.clone() }),
            // The fastest kind of one.
            None if class == PERFORMANCE => Ok(None),
            None => Err(ClassError::OneKind { class, part: part(machine) }),
        };
    }
    let Some(kind) = cores.named(class) else {
        let why = cores.unknown.as_ref().map_or(String::new(), |why| format!(" (unknown: {why})"));
        return Err(ClassError::NoSuchKind { class: class.to_owned(), kinds: kinds(&cores.kinds), why });
    };
    if kind.cpus.intersection(&permitted).is_empty() {
        let (class, cpus) = (class.to_owned(), kind.cpus.clone());
        return Err(ClassError::NotAllowed { class, cpus, allowed: permitted });
    }
    for (option, cpus) in listed {
        let others = cpus.intersection(&machine.topology.online).difference(&kind.cpus);
        if !others.is_empty() {
            let (class, kinds) = (class.to_owned(), kinds(&cores.kinds));
            return Err(ClassError::Contradiction { option, cpus: others, class, kinds });
        }
    }
    Ok(Some(kind.name.clone()))
}

/// `: 8 of Cortex-A76`, as far as it is known.
fn part(machine: &Machine) -> String {
    let cores: std::collections::BTreeSet<u32> = machine.topology.cpus.iter().map(|cpu| cpu.core).collect();
    match machine.cpu.model.value() {
        Some(model) if !cores.is_empty() => {
            format!(" ({} of {})", cores.len(), figure::format::plain_to(model, 64))
        }
        _ => String::new(),
    }
}

/// `performance (CPUs 0-15), efficiency (CPUs 16-23)`.
fn kinds(kinds: &[CoreKind]) -> String {
    let kind = |kind: &CoreKind| match kind.cpus.len() {
        1 => format!("{} (CPU {})", kind.name, kind.cpus),
        _ => format!("{} (CPUs {})", kind.name, kind.cpus),
    };
    kinds.iter().map(kind).collect::<Vec<_>>().join(", ")
}

/// Writes the kind of core of each figure as a condition, on a machine that has several: of the CPUs that it names,
/// else of all that are used.
pub fn write(figures: &mut [Figure], machine: &Machine) {
    let topology = &machine.topology;
    let used = topology.usable();
    for figure in figures.iter_mut().filter(|figure| figure.status != Status::NotAvailable) {
        let own = others::cpus(figure);
        if let Some(kinds) = topology.core_kinds_of(if own.is_empty() { &used } else { &own }) {
            figure.conditions.set(CORE_KIND, kinds);
        }
    }
}

/// The kinds that are used and those that are not, for `--dry-run`; `None` if the machine shows one kind.
pub fn note(machine: &Machine) -> Option<String> {
    let cores = &machine.topology.cores;
    let permitted = machine.topology.permitted();
    let present: Vec<CoreKind> = cores.among(&permitted).into_iter().cloned().collect();
    if cores.kinds.is_empty() {
        return None;
    }
    let (used, unused): (Vec<CoreKind>, Vec<CoreKind>) =
        present.into_iter().partition(|kind| cores.used.as_ref().is_none_or(|used| *used == kind.name));
    Some(match (unused.is_empty(), &cores.unknown) {
        (true, None) => kinds(&used),
        (true, Some(why)) => format!("{} (unknown: {why})", kinds(&used)),
        (false, _) => format!("{}; not {}, which --class takes", kinds(&used), kinds(&unused)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::synthetic;

    fn usable(name: &str, class: Option<&str>, listed: &[&str], allowed: &str) -> Result<String, ClassError> {
        let mut machine = synthetic::named(name);
        if !allowed.is_empty() {
            machine.topology.allowed = allowed.parse().unwrap();
        }
        let listed: Vec<Listed> = listed.iter().map(|list| ("--places", list.parse().unwrap())).collect();
        choose(&mut machine, class, &listed).map(|()| machine.topology.usable().to_string())
    }

    fn of(name: &str, class: Option<&str>) -> String {
        usable(name, class, &[], "").unwrap()
    }

    #[test]
    fn the_fastest_kind_unless_another_is_asked_for() {
        assert_eq!(of("alder_lake_desktop", None), "0-15");
        assert_eq!(of("alder_lake_desktop", Some("efficiency")), "16-23");
        assert_eq!(of("alder_lake_desktop", Some(ALL)), "0-23");
        assert_eq!(of("meteor_lake_laptop", None), "0-1,10-15");
        assert_eq!(of("meteor_lake_laptop", Some("low-power")), "16-17");
        assert_eq!(of("rk3588_board", Some("performance")), "4-7");
        assert_eq!(of("four_kinds_phone", Some("middle-2")), "5-6");
    }

    #[test]
    fn an_affinity_mask_and_listed_cpus_choose_too() {
        let laptop = |class, listed: &[&str], allowed| usable("hybrid_laptop", class, listed, allowed);
        assert_eq!(laptop(None, &[], "2-5").unwrap(), "2-3");
        assert_eq!(laptop(None, &[], "5-8").unwrap(), "5-8");
        assert_eq!(laptop(None, &["6"], "").unwrap(), "4-11");
        assert_eq!(laptop(None, &["0", "6"], "").unwrap(), "0-11", "several kinds");
        assert!(matches!(laptop(Some("performance"), &[], "5-8"), Err(ClassError::NotAllowed { .. })));
        let contradiction = laptop(Some("performance"), &["1,6-7"], "").unwrap_err();
        assert!(matches!(contradiction, ClassError::Contradiction { cpus, .. } if cpus.to_string() == "6-7"));
    }

    #[test]
    fn machines_of_one_kind_have_all_and_the_fastest() {
        for class in [None, Some(ALL), Some(PERFORMANCE)] {
            assert_eq!(of("microvm_2cpu", class), "0-1");
        }
        let refused = |name, class| usable(name, Some(class), &[], "").unwrap_err();
        assert!(matches!(refused("microvm_2cpu", "efficiency"), ClassError::OneKind { .. }));
        assert!(refused("two_socket_smt_server", "efficiency").to_string().contains("48 of Intel(R) Xeon"));
        assert!(matches!(refused("hybrid_laptop", "low-power"), ClassError::NoSuchKind { .. }));
    }

    #[test]
    fn what_is_not_known_is_not_chosen() {
        let mut machine = synthetic::named("rk3588_board");
        machine.topology.cores.unknown = Some("which is faster".to_owned());
        choose(&mut machine, None, &[]).unwrap();
        assert_eq!(machine.topology.usable().to_string(), "0-7");
        assert!(note(&machine).unwrap().contains("unknown: which is faster"));
        machine.topology.cores.kinds.clear();
        let refused = choose(&mut machine, Some("performance"), &[]).unwrap_err();
        assert!(matches!(refused, ClassError::Unknown { .. }));
    }

    #[test]
    fn what_is_used_is_said() {
        let mut machine = synthetic::named("alder_lake_desktop");
        choose(&mut machine, None, &[]).unwrap();
        let text = note(&machine).unwrap();
        assert!(text.starts_with("performance (CPUs 0-15); not efficiency (CPUs 16-23)"), "{text}");
        assert_eq!(note(&synthetic::named("microvm_2cpu")), None);
    }
}
