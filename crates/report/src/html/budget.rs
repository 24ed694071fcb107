//! Bytes that a part of the page may take.

use maud::{Markup, html};

/// What is left of them.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn of(bytes: usize) -> Budget {
        Budget(bytes)
    }

    pub(super) fn left(&self) -> usize {
        self.0
    }

    /// The markup, if there is room for it.
    pub(super) fn take(&mut self, markup: Markup) -> Option<Markup> {
        self.0 = self.0.checked_sub(markup.0.len())?;
        Some(markup)
    }

    /// Those for which there is room, and in words how many are left out.
    pub(super) fn fill(&mut self, all: impl IntoIterator<Item = Markup>, noun: &str) -> Markup {
        let (mut taken, mut left_out) = (Vec::new(), 0);
        for markup in all {
            match self.take(markup) {
                Some(markup) => taken.push(markup),
                None => left_out += 1,
            }
        }
        html! { @for markup in &taken { (markup) } (too_many(left_out, noun)) }
    }
}

/// How many are left out.
pub(super) fn too_many(left_out: usize, noun: &str) -> Markup {
    html! {
        @if left_out > 0 {
            p.note { (left_out) " " (noun) " more would make this page too large: the record has them." }
        }
    }
}
