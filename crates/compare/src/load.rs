//! Two figures that are invalid by load alone: can that load have made their ratio?

use figure::stats::{LogRatio, Ratio};
use suites::treatment::{self, Direction, Standing, standing};

use crate::gate::Side;

/// That the direction of a ratio is certain although load made its figures invalid, in words; `None` where it is not, or where no figure
/// is invalid, or one for another reason.
pub(super) fn direction(a: Side, b: Side, ratio: &LogRatio) -> Option<String> {
    let worst = standing(a.figure, "").max(standing(b.figure, ""));
    if worst != Standing::Disturbed {
        return None;
    }
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(f64::exp);
    let ratio = Ratio { value, low, high, pairs: ratio.rounds / 2 };
    match treatment::direction_apart(&ratio, [b.figure, a.figure], [&b.record.machine, &a.record.machine]) {
        Direction::Sure(load) => Some(format!(
            "direction sure, size not: other processes used {:.2} CPUs in {} and {:.2} in {}, which explains at most {:.2}x",
            load.cpus[1], a.letter, load.cpus[0], b.letter, load.bound
        )),
        _ => None,
    }
}
