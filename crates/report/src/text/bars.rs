//! Bars and sparklines: the shape of a curve in characters.

/// Eighths of a block, from the left.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Eighths of a block, from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// From this ratio of the largest value to the smallest on, a sparkline is drawn by logarithms: its small values
/// would all look alike.
const LOGARITHMIC: f64 = 20.0;

/// A bar of this share of `width` columns, in eighths of a column. Invalid values are hatched.
pub(super) fn bar(share: f64, width: usize, hatched: bool) -> String {
    // A NaN has no bar.
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    if hatched {
        return "░".repeat(eighths.div_ceil(8));
    }
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

/// A character for each value, as high as the value stands between the smallest and the largest; a space where
/// there is none. The second answer is whether the heights are logarithms.
pub(super) fn sparkline(values: &[Option<f64>]) -> (String, bool) {
    let finite = || values.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = finite().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    let by_logarithm = low > 0.0 && high / low >= LOGARITHMIC;
    let height = |value: f64| {
        if by_logarithm { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) }
    };
    let sign = |value: &Option<f64>| match value {
        Some(value) if value.is_finite() => {
            // All alike: a line at half height.
            let height = if high > low { height(*value) } else { 0.5 };
            LEVELS[((height * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]
        }
        _ => ' ',
    };
    (values.iter().map(sign).collect(), by_logarithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 4, false), "████");
        assert_eq!(bar(0.5, 5, false), "██▌");
        assert_eq!(bar(0.0, 5, false), "");
        assert_eq!(bar(f64::NAN, 5, false), "");
        assert_eq!(bar(7.0, 3, false), "███", "never wider than its column");
        assert_eq!(bar(0.45, 5, true), "░░░");
    }

    #[test]
    fn a_sparkline_rises_with_its_values() {
        assert_eq!(sparkline(&[Some(1.0), Some(2.0), None, Some(8.0)]), ("▁▂ █".into(), false));
        assert_eq!(sparkline(&[Some(1.0), Some(10.0), Some(100.0)]), ("▁▅█".into(), true));
        assert_eq!(sparkline(&[Some(3.0), Some(3.0)]), ("▅▅".into(), false));
        assert_eq!(sparkline(&[Some(f64::NAN), Some(0.0), Some(100.0)]), (" ▁█".into(), false));
        assert_eq!(sparkline(&[]).0, "");
    }
}
