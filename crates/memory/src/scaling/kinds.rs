//! The curves of a machine with several kinds of core: one for each kind, the fastest first, and one for all of them
//! together if they are asked for. Pure.

use figure::host::CoreKind;
use figure::{CpuList, Machine};
use lab::core_kind;

use super::bindings::Cores;

/// Cores of one kind, over which a curve goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// The kind; `None` on a machine that shows one.
    pub kind: Option<String>,
    pub cores: Cores,
}

impl Curve {
    /// The series of its curves, for one of `prefix`.
    pub fn series(&self, prefix: &str) -> String {
        match &self.kind {
            Some(kind) => format!("{prefix}.{}", word(kind)),
            None => prefix.to_owned(),
        }
    }

    /// `, efficiency cores`, to follow the name of a point.
    pub fn title(&self) -> String {
        match self.kind.as_deref() {
            Some(core_kind::ALL) => ", cores of all kinds".to_owned(),
            Some(kind) => format!(", {kind} cores"),
            None => String::new(),
        }
    }
}

/// A kind in an id: `part-0x61-0x777` of a part without a name.
fn word(kind: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    kind.chars().map(letter).collect()
}

/// The curves over the CPUs that we may use, or `within` these. `class` is the kind that was asked for.
pub fn curves(machine: &Machine, within: Option<&CpuList>, class: Option<&str>) -> Vec<Curve> {
    let topology = &machine.topology;
    let permitted = topology.permitted();
    let cpus = within.map_or(permitted.clone(), |within| within.intersection(&permitted));
    let kinds = topology.cores.among(&cpus);
    let is_chosen = |kind: &&CoreKind| topology.cores.used.as_ref() == Some(&kind.name);
    // What is used without a word of the user is the fastest kind; the others follow it.
    let is_one = class.is_some() || within.is_some();
    let of = |kind: &CoreKind| Curve {
        kind: Some(kind.name.clone()),
        cores: Cores::among(machine, &cpus.intersection(&kind.cpus)),
    };
    if let Some(kind) = kinds.iter().copied().find(is_chosen).filter(|_| is_one) {
        return vec![of(kind)];
    }
    let everything =
        |kind: Option<&str>| Curve { kind: kind.map(str::to_owned), cores: Cores::among(machine, &cpus) };
    match kinds.len() {
        0 => vec![everything(None)],
        1 => vec![of(kinds[0])],
        _ => {
            let together = is_one.then(|| everything(Some(core_kind::ALL)));
            kinds.into_iter().map(of).chain(together).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::synthetic;

    /// The kinds and cores of the curves, as the command line would ask for them.
    fn of(name: &str, class: Option<&str>, listed: Option<&str>) -> Vec<(String, String)> {
        let mut machine = synthetic::named(name);
        let within: Option<CpuList> = listed.map(|list| list.parse().unwrap());
        let lists: Vec<_> = within.iter().map(|cpus| ("--places", cpus.clone())).collect();
        core_kind::choose(&mut machine, class, &lists).unwrap();
        let curves = curves(&machine, within.as_ref(), class);
        let cpus = |curve: &Curve| curve.cores.0.iter().map(CpuList::to_string).collect::<Vec<_>>().join(" ");
        curves.iter().map(|curve| (curve.kind.clone().unwrap_or_default(), cpus(curve))).collect()
    }

    fn pair(kind: &str, cores: &str) -> (String, String) {
        (kind.to_owned(), cores.to_owned())
    }

    #[test]
    fn a_curve_for_each_kind_and_all_together_if_asked() {
        let (fast, slow) = (pair("performance", "0-1 2-3"), pair("efficiency", "4 5 6 7 8 9 10 11"));
        let all = pair("all", "0-1 2-3 4 5 6 7 8 9 10 11");
        assert_eq!(of("hybrid_laptop", None, None), [fast.clone(), slow.clone()]);
        assert_eq!(of("hybrid_laptop", Some("efficiency"), None), std::slice::from_ref(&slow));
        assert_eq!(of("hybrid_laptop", Some("all"), None), [fast, slow, all]);
        assert_eq!(of("hybrid_laptop", None, Some("5-6")), [pair("efficiency", "5 6")]);
        let mixed = [pair("performance", "0"), pair("efficiency", "6"), pair("all", "0 6")];
        assert_eq!(of("hybrid_laptop", None, Some("0,6")), mixed);
    }

    #[test]
    fn all_together_begin_with_the_fastest() {
        let curves = of("rk3588_board", Some("all"), None);
        assert_eq!(curves[2], pair("all", "4 5 6 7 0 1 2 3"));
    }

    #[test]
    fn one_kind_has_one_curve_without_a_name() {
        for class in [None, Some("all"), Some("performance")] {
            assert_eq!(of("microvm_2cpu", class, None), [pair("", "0 1")]);
        }
    }
}
