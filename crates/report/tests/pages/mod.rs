//! Reading a page back.

use std::collections::BTreeSet;

use regex::Regex;
use roxmltree::{Document, Node, ParsingOptions};

/// What a page may have at most.
pub const MAX_BYTES: usize = 1_500_000;

/// The page as XML, which is stricter than a browser: only elements without contents are not closed in HTML.
pub fn closed(page: &str) -> String {
    let void = Regex::new("<(meta|input|br)((?: [^>]*)?)>").unwrap();
    void.replace_all(page, "<$1$2/>").into_owned()
}

/// The document.
pub fn parsed(xml: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: u32::MAX, ..ParsingOptions::default() };
    Document::parse_with_options(xml, options).unwrap()
}

/// The text below a node, on one line.
pub fn text(node: Node) -> String {
    let words: Vec<&str> = node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
    words.concat().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All elements of a name.
pub fn all<'a>(document: &'a Document, tag: &str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.tag_name().name() == tag).collect()
}

/// What holds for every page.
pub fn assert_safe(page: &str) {
    let xml = closed(page);
    let document = parsed(&xml);
    let known: BTreeSet<&str> = "html head meta title style body header main footer section h1 h2 h3 h4 p a b br strong small code pre \
                                 span div ul ol li dl dt dd table thead tbody tr th td figure figcaption details summary form \
                                 fieldset legend label input svg rect text line polyline polygon circle"
        .split_whitespace()
        .collect();
    let mut ids = BTreeSet::new();
    for node in document.descendants().filter(Node::is_element) {
        assert!(known.contains(node.tag_name().name()), "{}", node.tag_name().name());
        for attribute in node.attributes() {
            let name = attribute.name();
            let is_active = ["style", "src", "srcset", "action"].contains(&name) || name.starts_with("on");
            assert!(!is_active, "{name}");
        }
        if let Some(id) = node.attribute("id") {
            assert!(ids.insert(id), "{id} twice");
        }
    }
    for node in all(&document, "a") {
        let target = node.attribute("href").unwrap();
        assert!(target.strip_prefix('#').is_some_and(|id| ids.contains(id)), "{target} leads nowhere");
    }
    assert_eq!(all(&document, "style").len(), 1);
    let style = text(all(&document, "style")[0]);
    assert!(!style.contains("url(") && !style.contains("@import"), "a style sheet that loads");
    assert!(page.contains("default-src 'none'"));
    for bad in ['\u{1b}', '\u{202e}', '\u{0}', '\u{ffff}'] {
        assert!(!page.contains(bad), "{bad:?}");
    }
}

/// The pictures of a page, each with its text alternative.
pub fn pictures<'a>(document: &'a Document) -> Vec<(Node<'a, 'a>, &'a str)> {
    let pictures = document.descendants().filter(|node| node.attribute("role") == Some("img"));
    pictures.map(|node| (node, node.attribute("aria-label").unwrap())).collect()
}

/// The texts that the pointer shows in a picture.
pub fn spots(picture: Node) -> Vec<String> {
    let spots = picture.descendants().filter(|node| node.attribute("class") == Some("spot"));
    spots.map(text).collect()
}
