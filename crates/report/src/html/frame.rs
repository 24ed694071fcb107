//! What surrounds every page: the head with the style sheet and the policy, and the bound on its size.

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::theme;
use crate::svg;

/// The largest page: what a mail or an issue takes, and a telephone opens.
pub(super) const MAX_BYTES: usize = 1_500_000;

/// A page of these parts; `main` has an element of the id `skip_to`.
pub(super) fn page(title: &str, skip_to: &str, header: &Markup, main: &Markup, footer: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(theme::style())) }
            }
            body {
                a.skip href={ "#" (skip_to) } { "Skip to the figures" }
                header { (header) }
                main { (main) }
                footer { (footer) }
            }
        }
    }
}

/// The page as bytes.
///
/// # Errors
/// It is larger than [`MAX_BYTES`].
pub(super) fn bytes(page: Markup) -> io::Result<Vec<u8>> {
    let mut page = page.into_string();
    page.retain(svg::is_xml);
    page.push('\n');
    if page.len() > MAX_BYTES {
        // What bounds its parts leaves no room for this, whatever the record holds.
        return Err(io::Error::other(format!(
            "the page would have {} bytes, more than {MAX_BYTES}",
            page.len()
        )));
    }
    Ok(page.into_bytes())
}
