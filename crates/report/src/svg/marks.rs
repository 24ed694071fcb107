//! Shapes and colours: a verdict by its shape and its colour, a series by its colour and its dashes.

use figure::Verdict;
use plotters::prelude::*;

/// Units of the drawing for each CSS pixel: plotters places everything on whole units, and curves need finer ones.
pub(super) const SCALE: u32 = 4;

/// Text.
pub(super) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Text of less weight: machine, notes.
pub(super) const FAINT: RGBColor = RGBColor(0x59, 0x59, 0x59);
/// The grid.
pub(super) const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
/// Limits.
pub(super) const LIMIT: RGBColor = RGBColor(0x6b, 0x6b, 0x6b);
/// Suspect points.
const AMBER: RGBColor = RGBColor(0xb3, 0x59, 0x00);
/// Invalid points.
const RED: RGBColor = RGBColor(0xc0, 0x00, 0x00);

/// Series: colours that remain apart for those who see fewer (after Okabe and Ito, 2008), without the colours
/// of verdicts; all dark enough on white. With the dashes of their lines and the gaps between them.
const SERIES: [(RGBColor, Option<(i32, i32)>); 6] = [
    (RGBColor(0x00, 0x72, 0xb2), None),
    (RGBColor(0x00, 0x80, 0x5c), Some((7, 4))),
    (RGBColor(0x8a, 0x3f, 0xa0), Some((2, 3))),
    (RGBColor(0x2c, 0x8f, 0xc9), Some((12, 4))),
    (RGBColor(0x7a, 0x52, 0x30), Some((5, 2))),
    (RGBColor(0x40, 0x40, 0x40), Some((3, 6))),
];
/// Shades of maps from light to dark: one hue, so that only lightness counts (after ColorBrewer's Blues).
pub(super) const SHADES: [RGBColor; 7] = [
    RGBColor(0xe8, 0xf0, 0xf8),
    RGBColor(0xc8, 0xdc, 0xee),
    RGBColor(0x9e, 0xca, 0xe1),
    RGBColor(0x6b, 0xae, 0xd6),
    RGBColor(0x42, 0x8f, 0xc4),
    RGBColor(0x21, 0x6f, 0xb0),
    RGBColor(0x08, 0x45, 0x8b),
];

/// The colours that charts are drawn in, by the names under which a page gives them those of its theme: `s0` and on are series.
/// Maps keep their shades.
pub(crate) fn named() -> impl Iterator<Item = (String, String)> {
    let others = [
        ("paper", WHITE),
        ("ink", INK),
        ("faint", FAINT),
        ("grid", GRID),
        ("limit", LIMIT),
        ("amber", AMBER),
        ("red", RED),
    ];
    let others = others.into_iter().map(|(name, colour)| (name.to_owned(), hex(colour)));
    others.chain((0..SERIES.len()).map(|at| (format!("s{at}"), hex(colour(at)))))
}

/// The colour of a series.
pub(super) fn colour(series: usize) -> RGBColor {
    SERIES[series % SERIES.len()].0
}

/// The same for areas, which are lighter than their marks.
pub(super) fn area(series: usize) -> RGBAColor {
    colour(series).mix(0.45)
}

/// Dash and gap of a series in units of the drawing; `None` for a solid line.
pub(super) fn dashes(series: usize) -> Option<(i32, i32)> {
    let scale = SCALE as i32;
    SERIES[series % SERIES.len()].1.map(|(dash, gap)| (dash * scale, gap * scale))
}

/// Letters on a shade, the same in all themes, as shades are.
pub(super) fn on_shade(shade: usize) -> RGBColor {
    /// The first shade that needs light letters.
    const DARK: usize = 4;
    if shade >= DARK { RGBColor(0xfe, 0xfe, 0xfe) } else { BLACK }
}

/// A colour as SVG writes it.
pub(super) fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// The mark of a point: a filled circle for valid, a hollow one for unverified, a triangle for suspect, a cross for
/// invalid, a square for what was not judged. Each shows the colour of its series too.
pub(super) fn mark<'a, DB, C>(at: C, verdict: Option<Verdict>, colour: RGBColor) -> DynElement<'a, DB, C>
where
    DB: DrawingBackend + 'a,
    C: Clone + 'a,
{
    let s = SCALE as i32;
    let line = |colour: RGBColor| colour.stroke_width(2 * SCALE);
    // White below, so that no line runs through them.
    let outline = |points: Vec<(i32, i32)>, colour: RGBColor| {
        let closed: Vec<(i32, i32)> = points.iter().chain(points.first()).copied().collect();
        EmptyElement::at(at.clone())
            + Polygon::new(points, WHITE.filled())
            + PathElement::new(closed, line(colour))
    };
    match verdict {
        Some(Verdict::Valid) => {
            (EmptyElement::at(at) + Circle::new((0, 0), 3 * s, colour.filled())).into_dyn()
        }
        Some(Verdict::Unverified) => (EmptyElement::at(at)
            + Circle::new((0, 0), 4 * s, WHITE.filled())
            + Circle::new((0, 0), 4 * s, line(colour)))
        .into_dyn(),
        Some(Verdict::Suspect) => (outline(vec![(0, -6 * s), (-6 * s, 5 * s), (6 * s, 5 * s)], AMBER)
            + Circle::new((0, s), 2 * s, colour.filled()))
        .into_dyn(),
        Some(Verdict::Invalid) => (EmptyElement::at(at)
            + Circle::new((0, 0), 5 * s, WHITE.filled())
            + Circle::new((0, 0), 5 * s, colour.stroke_width(SCALE))
            + PathElement::new(vec![(-5 * s, -5 * s), (5 * s, 5 * s)], line(RED))
            + PathElement::new(vec![(-5 * s, 5 * s), (5 * s, -5 * s)], line(RED)))
        .into_dyn(),
        None => outline(vec![(-4 * s, -4 * s), (4 * s, -4 * s), (4 * s, 4 * s), (-4 * s, 4 * s)], colour)
            .into_dyn(),
    }
}
