use figure::evidence::MEMORY_POLICY;
use figure::{Better, Unit};

use super::*;

/// Other weights are another experiment where the policy takes pages by them, and nothing where it does not.
#[test]
fn another_memory_policy_is_another_experiment() {
    let figure = |policy: Option<&str>| {
        let mut figure = Figure::planned("memory.mix.2:1", "memory", "2:1", Unit::GB_PER_S, Better::Higher);
        if let Some(policy) = policy {
            figure.conditions.set(MEMORY_POLICY, policy.to_owned());
        }
        figure
    };
    let record = Record::default();
    let differ = |a: Option<&str>, b: Option<&str>| {
        let (a, b) = (figure(a), figure(b));
        let side = |letter, figure| Side { letter, record: &record, figure };
        parameters(side('A', &a), side('B', &b))
    };
    let weighted = |weights: &str| format!("weighted interleave:0-1 by {weights}");
    let (four, three) = (weighted("node0=4 node1=1"), weighted("node0=3 node1=1"));
    assert_eq!(differ(Some(&four), Some(&four)), None);
    assert_eq!(differ(None, None), None);
    for other in [Some(three.as_str()), Some("interleave:0-1"), None] {
        let reason = differ(Some(&four), other).unwrap();
        assert!(reason.contains("memory_policy"), "{reason}");
    }
    let mut records = [Record::default(), Record::default()];
    records[1].machine.numa.policy = Some("interleave:0-1".to_owned());
    let about =
        |a: &Record, b: &Record| between(a, b).iter().any(|difference| difference.about == "memory policy");
    assert!(about(&records[0], &records[1]) && !about(&records[0], &records[0]));
}

#[test]
fn what_looks_alike_in_few_words_is_not_the_same() {
    let tunables = |end: &str| Fact::Text(format!("GLIBC_TUNABLES={}{end}", "x".repeat(80)));
    let mebibytes = |count: f64| Fact::Number(count * 1048576.0);
    for (name, x, y) in [
        ("setting.environment", tunables("1"), tunables("2")),
        ("working_set_bytes", mebibytes(1.2), mebibytes(1.21)),
    ] {
        assert_eq!(text(name, &x), text(name, &y));
        assert!(is_other(name, [Some(&x), Some(&y)]) && !is_other(name, [Some(&x), Some(&x)]), "{name}");
    }
    // Of what is measured and rounded the words decide.
    assert!(!is_other("rate", [Some(&Fact::Number(1.00001)), Some(&Fact::Number(1.00002))]));
}
