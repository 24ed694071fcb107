//! A figure as a multiple of another, of rounds in pairs: what drifts for both alike cancels. Pure.

use figure::Figure;

/// Gives `figure` the median of the ratios `a` / `b`, with its interval where there are rounds enough. `None` without a pair.
pub fn set(figure: &mut Figure, a: &Figure, b: &Figure) -> Option<()> {
    let ratios: Vec<f64> = a.kept_values().iter().zip(b.kept_values()).map(|(a, b)| a / b).collect();
    figure.derive(&ratios, &[a, b])
}
