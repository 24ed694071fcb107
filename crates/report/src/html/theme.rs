//! Colours: those of the page in both themes, and how charts get theirs.

use std::fmt::Write as _;

use crate::svg;

/// The style sheet without the colours.
const STYLE: &str = include_str!("style.css");

/// What only the page has: name, on light, on dark.
const PAGE: &[(&str, &str, &str)] = &[
    ("back", "#F6F7F9", "#101418"),
    ("link", "#0B5CAD", "#7CB7F5"),
    ("valid", "#1A6B34", "#6CCB8B"),
    ("unverified", "#0B6477", "#6CC5DA"),
    ("suspect", "#8F4700", "#F0A050"),
    ("invalid", "#B00010", "#FF8A85"),
];

/// Colours of charts on dark; on light they are those that they are drawn in.
const DARK: &[(&str, &str)] = &[
    ("paper", "#171C22"),
    ("ink", "#E6E8EB"),
    ("faint", "#A9B1BA"),
    ("grid", "#2C343D"),
    ("limit", "#98A2AD"),
    ("amber", "#F0A050"),
    ("red", "#FF7A75"),
    ("s0", "#5AB0EC"),
    ("s1", "#3FC79A"),
    ("s2", "#C78BDB"),
    ("s3", "#8CCBF2"),
    ("s4", "#CFA27A"),
    ("s5", "#C4C4C4"),
];

/// The whole style sheet. Paper has the light theme.
pub(super) fn style() -> String {
    let (mut light, mut dark, mut drawn) = (String::new(), String::new(), String::new());
    let mut rules = || -> std::fmt::Result {
        for (name, on_light, on_dark) in PAGE {
            write!(light, "--{name}:{on_light};")?;
            write!(dark, "--{name}:{on_dark};")?;
        }
        for (name, on_light) in svg::colours() {
            let on_dark = on_dark(&name).unwrap_or(&on_light);
            write!(light, "--{name}:{on_light};")?;
            write!(dark, "--{name}:{on_dark};")?;
            // A style sheet goes before the attributes that the plotting library writes.
            write!(
                drawn,
                "svg [fill=\"{on_light}\"]{{fill:var(--{name})}}svg [stroke=\"{on_light}\"]{{stroke:var(--{name})}}"
            )?;
        }
        // Steps of the bars that show a share of a limit.
        for step in 0..=20 {
            write!(drawn, ".w{step}::before{{width:{}%}}", step * 5)?;
        }
        Ok(())
    };
    // Text takes whatever is written to it.
    let _ = rules();
    format!(":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{STYLE}{drawn}")
}

fn on_dark(name: &str) -> Option<&'static str> {
    DARK.iter().find(|(known, _)| *known == name).map(|(_, colour)| *colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (a, b) = (luminance(one), luminance(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_lines_stand_out_in_both_themes() {
        assert!((contrast("#FFFFFF", "#000000") - 21.0).abs() < 1e-9);
        let charts: Vec<(String, String)> = svg::colours().collect();
        let light = |name: &str| charts.iter().find(|(known, _)| known == name).unwrap().1.clone();
        let dark = |name: &str| on_dark(name).unwrap_or_else(|| panic!("{name} has no colour on dark"));
        let back = PAGE[0];
        for ground in [[light("paper"), back.1.into()], [dark("paper").to_owned(), back.2.into()]].concat() {
            let is_dark = luminance(&ground) < 0.2;
            let of = |name: &str| if is_dark { dark(name).to_owned() } else { light(name) };
            // WCAG 2.2, 1.4.3: text 4.5; 1.4.11: what is drawn 3. The grid only helps.
            for name in ["ink", "faint"] {
                assert!(contrast(&of(name), &ground) >= 4.5, "{name} on {ground}");
            }
            for (name, _) in charts.iter().filter(|(name, _)| !["paper", "grid"].contains(&name.as_str())) {
                assert!(contrast(&of(name), &ground) >= 3.0, "{name} on {ground}");
            }
            for (name, on_light, on_dark) in &PAGE[1..] {
                let colour = if is_dark { on_dark } else { on_light };
                assert!(contrast(colour, &ground) >= 4.5, "{name} on {ground}");
            }
        }
    }
}
