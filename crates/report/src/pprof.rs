//! Stacks for `pprof` (`go tool pprof`, speedscope, Pyroscope, …): a profile in its protocol buffers, compressed.

use std::io::{self, Write};

use ::pprof::{Function, Label, Line, Location, Profile, Sample, ValueType};
use figure::Record;
use figure::evidence::WATCHED;
use figure::format::plain;
use flate2::Compression;
use flate2::write::GzEncoder;
use indexmap::IndexSet;
use prost::Message;

use crate::folded;
use crate::format::{Format, Options};

pub(crate) const FORMAT: Format =
    Format { name: "pprof", about: "for go tool pprof: the stacks of a program's page faults", write };

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let stacks = folded::stacks(record)?;
    let program = record.figure("faults.minor").and_then(|figure| figure.conditions.get(WATCHED));
    let about = program.map(|name| format!("page faults of {}", plain(&name)));
    let mut profile = of(&stacks, about.as_deref());
    profile.duration_nanos = (record.duration * 1e9) as i64;
    let mut packed = GzEncoder::new(out, Compression::default());
    packed.write_all(&profile.encode_to_vec())?;
    packed.finish().map(drop)
}

/// Stacks, `thread;outermost;…;innermost`, as a profile.
fn of(stacks: &[(String, u64)], about: Option<&str>) -> Profile {
    // The profile's table of strings, of which the first is empty.
    let mut strings = IndexSet::from([String::new()]);
    let mut number = |text: &str| strings.insert_full(text.to_owned()).0 as i64;
    let mut profile = Profile {
        sample_type: vec![ValueType { r#type: number("faults"), unit: number("count") }],
        comment: about.map(&mut number).into_iter().collect(),
        ..Profile::default()
    };
    let thread = number("thread");
    let mut functions = IndexSet::new();
    for (stack, faults) in stacks {
        let mut frames = stack.split(';');
        let label = Label { key: thread, str: number(frames.next().unwrap_or_default()) };
        let mut location_id: Vec<u64> =
            frames.map(|name| functions.insert_full(number(name)).0 as u64 + 1).collect();
        // The leaf comes first.
        location_id.reverse();
        profile.sample.push(Sample { location_id, value: vec![*faults as i64], label: vec![label] });
    }
    for (id, name) in (1..).zip(functions) {
        profile.function.push(Function { id, name, system_name: name });
        profile.location.push(Location { id, line: vec![Line { function_id: id }] });
    }
    profile.string_table = strings.into_iter().collect();
    profile
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_profile_holds_the_stacks_with_the_leaf_first() {
        let stacks = [("worker;main;handle;memset", 750), ("main;main;parse", 250)];
        let profile = of(&stacks.map(|(stack, faults)| (stack.to_owned(), faults)), Some("server"));
        let profile = Profile::decode(profile.encode_to_vec().as_slice()).unwrap();
        let name = |number: i64| profile.string_table[number as usize].as_str();
        let called = |sample: &Sample| -> Vec<&str> {
            let line = |id: &u64| profile.location[*id as usize - 1].line[0].function_id;
            let function = |id: &u64| name(profile.function[line(id) as usize - 1].name);
            sample.location_id.iter().map(function).collect()
        };
        assert_eq!((profile.string_table[0].as_str(), name(profile.comment[0])), ("", "server"));
        assert_eq!(name(profile.sample_type[0].r#type), "faults");
        let [first, second] = profile.sample.as_slice() else { panic!("{profile:?}") };
        assert_eq!((called(first), first.value[0]), (vec!["memset", "handle", "main"], 750));
        assert_eq!((called(second), second.value[0]), (vec!["parse", "main"], 250));
        assert_eq!((name(first.label[0].key), name(first.label[0].str)), ("thread", "worker"));
        assert_eq!(profile.function.len(), 4, "main is one");
    }
}
