//! A processor that is emulated: every figure says so, and nothing changes elsewhere.

use figure::Outcome::Warn;
use figure::evidence::CANARY_CHANGE;
use figure::{Reading, Verdict};
use serde_json::json;

use crate::build::{Case, hopping, quiet_vm, server};

fn under(case: Case, hypervisor: Reading<String>) -> Case {
    case.machine(|machine| {
        machine.virtualisation.hypervisor = hypervisor;
        machine.virtualisation.evidence = vec!["CPUID leaf 40000000 is signed \"TCGTCGTCGTCG\"".into()];
    })
}

#[test]
fn every_figure_of_an_emulator_has_a_warning() {
    for case in [quiet_vm(), server(), hopping("same-cpu")] {
        let emulated = under(case, Reading::Value("tcg".into()));
        let sign = "CPUID leaf 40000000 is signed \"TCGTCGTCGTCG\"";
        let answer = emulated.case("emulated", "emulated", json!({"sign": sign}));
        assert!(answer.outcome == Warn && answer.fix.is_some());
        let unsteady = emulated.clone().with(CANARY_CHANGE, 0.3);
        assert_eq!(unsteady.answer("frequency"), None, "an emulator has no clock frequency");
        let (verdict, reasons) = emulated.judged();
        assert_eq!((verdict, reasons[0].as_str()), (Verdict::Suspect, "emulated"));
    }
}

#[test]
fn elsewhere_it_does_not_apply() {
    for hypervisor in ["none", "kvm", "qemu", "vmware", "unknown hypervisor"] {
        let case = under(quiet_vm(), Reading::Value(hypervisor.into()));
        assert_eq!(case.answer("emulated"), None, "{hypervisor}");
        assert_eq!(case.judged().0, Verdict::Valid, "{hypervisor}");
    }
    assert_eq!(under(quiet_vm(), Reading::unknown("not shown")).answer("emulated"), None);
}
