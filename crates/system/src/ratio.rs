//! A figure as the ratio of two others, by pairs of rounds, so that a drift of both cancels. Pure.

use figure::Figure;

/// Sets `figure` to the median of the ratios `a` / `b`, with its interval if there are enough rounds. `None`
/// without a pair of rounds.
pub fn set_median_ratio(figure: &mut Figure, a: &Figure, b: &Figure) -> Option<()> {
    let ratios: Vec<f64> = a.kept_values().iter().zip(b.kept_values()).map(|(a, b)| a / b).collect();
    figure.derive(&ratios, &[a, b])
}
