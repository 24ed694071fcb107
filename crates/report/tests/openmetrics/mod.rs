//! Reading OpenMetrics text back, as strictly as its specification (1.0.0) has it for gauges, and no wider than what node_exporter
//! takes: gauges alone, no timestamps.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

/// A line with a value.
#[derive(Debug)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

impl Sample {
    /// The value of a label that must be there.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).unwrap_or_else(|| panic!("no label {name}: {self:?}"))
    }
}

/// The samples of a text that breaks no rule.
pub fn read(text: &str) -> Vec<Sample> {
    let sample =
        Regex::new(r#"^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{((?:[^"]|"(?:[^"\\]|\\[\\"n])*")*)\})? (\S+)$"#).unwrap();
    let label = Regex::new(r#"^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)"#).unwrap();
    let number = Regex::new(r"^-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?$").unwrap();
    let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("it does not end with # EOF: {text}"));
    let mut samples = Vec::new();
    let mut families = BTreeSet::new();
    let mut series = BTreeSet::new();
    let (mut family, mut described) = (String::new(), BTreeSet::new());
    for line in body.lines() {
        assert!(!line.is_empty() && !line.chars().any(char::is_control), "{line:?}");
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let [word, name, value] = [(); 3].map(|()| words.next().unwrap_or_else(|| panic!("{line}")));
            if name != family {
                assert!(families.insert(name.to_owned()), "{name} is not in one piece");
                (family, described) = (name.to_owned(), BTreeSet::new());
            }
            assert!(described.insert(word.to_owned()), "{line}: twice");
            match word {
                "HELP" => assert!(!value.contains(['\\', '"'])),
                "TYPE" => assert_eq!(value, "gauge", "node_exporter knows it too"),
                "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let parts = sample.captures(line).unwrap_or_else(|| panic!("no sample: {line}"));
        assert_eq!(&parts[1], family, "a sample of another family: {line}");
        assert!(described.contains("TYPE"), "a sample before its type");
        let mut labels = BTreeMap::new();
        let mut rest = parts.get(2).map_or("", |labels| labels.as_str());
        while !rest.is_empty() {
            let one = label.captures(rest).unwrap_or_else(|| panic!("no label: {rest}"));
            let value = one[2].replace(r"\\", "\u{0}").replace("\\\"", "\"").replace('\u{0}', "\\");
            assert!(labels.insert(one[1].to_owned(), value).is_none(), "{line}: a label twice");
            rest = &rest[one[0].len()..];
        }
        assert!(series.insert((family.clone(), labels.clone())), "{line}: twice");
        assert!(number.is_match(&parts[3]), "no number: {line}");
        samples.push(Sample { name: family.clone(), labels, value: parts[3].parse().unwrap() });
    }
    samples
}
