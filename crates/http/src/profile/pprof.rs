//! Reads a CPU profile of Go's `runtime/pprof`: gzip of a `profile.proto` message, already symbolised.
//!
//! The input is untrusted: sizes are bounded, and ids are keys of maps, never indices.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;

use ::pprof::{Location, Profile, Sample};
use figure::format::plain;
use flate2::read::GzDecoder;
use prost::Message;

/// Most bytes after decompression. 40 busy CPUs make about 1 MB in 30 s.
pub const MAX_BYTES: u64 = 16 << 20;

/// Most bytes of the decoded messages, as [`memory`] estimates them: a message of two bytes becomes a
/// structure of seventy. The recorded profiles (11 to 39 KB) grow up to eightfold, so this allows for 5 MB.
const MAX_MEMORY: usize = 40 << 20;

/// Most frames of all stacks: 40 000 stacks, 100 deep.
const MAX_FRAMES: usize = 4 << 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuProfile {
    /// As Go writes them: `net/http.(*conn).serve`. Each once; empty for an address without a name.
    functions: Vec<String>,
    /// Frames of all stacks in a row, as indices into `functions`.
    frames: Vec<u32>,
    stacks: Vec<Stack>,
    /// Length in seconds; 0 if not given.
    pub seconds: f64,
    /// CPU nanoseconds between two samples of a thread; 0 if not given.
    pub period: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stack {
    frames: Range<usize>,
    samples: u64,
    nanoseconds: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct StackSamples<'a> {
    /// Indices into [`CpuProfile::functions`], leaf first; inlined calls are separate frames.
    pub frames: &'a [u32],
    pub samples: u64,
    pub nanoseconds: u64,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAProfile {
    #[error("CPU profile: cannot be unpacked as gzip: {0}")]
    Packed(String),
    #[error(
        "CPU profile: more than {} MiB unpacked, {} MiB in memory, or {MAX_FRAMES} frames",
        MAX_BYTES >> 20, MAX_MEMORY >> 20
    )]
    Large,
    #[error("CPU profile: not in the format of pprof's profile.proto: {0}")]
    Message(String),
    #[error("CPU profile: no value 'cpu' in nanoseconds: it counts {0}")]
    NotCpu(String),
}

impl CpuProfile {
    pub fn read(packed: &[u8]) -> Result<CpuProfile, NotAProfile> {
        let mut bytes = Vec::new();
        let mut unpacked = GzDecoder::new(packed).take(MAX_BYTES + 1);
        unpacked.read_to_end(&mut bytes).map_err(|error| NotAProfile::Packed(error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(NotAProfile::Large);
        }
        CpuProfile::unpacked(&bytes)
    }

    pub fn unpacked(bytes: &[u8]) -> Result<CpuProfile, NotAProfile> {
        if memory(bytes) > MAX_MEMORY {
            return Err(NotAProfile::Large);
        }
        let profile = Profile::decode(bytes).map_err(|error| NotAProfile::Message(error.to_string()))?;
        CpuProfile::from_message(&profile)
    }

    fn from_message(profile: &Profile) -> Result<CpuProfile, NotAProfile> {
        let (count, cpu) = columns(profile)?;
        let (functions, numbers) = functions(profile);
        let mut locations: HashMap<u64, &Location> = HashMap::new();
        for location in &profile.location {
            locations.entry(location.id).or_insert(location);
        }
        let mut read = CpuProfile {
            functions,
            seconds: profile.duration_nanos.max(0) as f64 / 1e9,
            period: profile.period.max(0) as u64,
            ..CpuProfile::default()
        };
        for sample in &profile.sample {
            let start = read.frames.len();
            for id in &sample.location_id {
                let lines = locations.get(id).map_or(&[][..], |location| location.line.as_slice());
                // An undescribed address is a frame without a name.
                let unnamed = usize::from(lines.is_empty());
                if read.frames.len() + lines.len() + unnamed > MAX_FRAMES {
                    return Err(NotAProfile::Large);
                }
                let number = |id: u64| numbers.get(&id).copied().unwrap_or(0);
                read.frames.extend(lines.iter().map(|line| number(line.function_id)));
                read.frames.extend(std::iter::repeat_n(0, unnamed));
            }
            let value = |column: usize| value(sample, column);
            read.stacks.push(Stack {
                frames: start..read.frames.len(),
                samples: count.map_or(0, value),
                nanoseconds: value(cpu),
            });
        }
        Ok(read)
    }

    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    pub fn stacks(&self) -> impl Iterator<Item = StackSamples<'_>> {
        self.stacks.iter().map(|stack| StackSamples {
            frames: &self.frames[stack.frames.clone()],
            samples: stack.samples,
            nanoseconds: stack.nanoseconds,
        })
    }

    /// CPU seconds of all samples.
    pub fn cpu(&self) -> f64 {
        self.stacks.iter().map(|stack| stack.nanoseconds as f64).sum::<f64>() / 1e9
    }

    pub fn samples(&self) -> u64 {
        self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.samples))
    }

    /// The name of a frame; empty if unknown.
    pub fn name(&self, frame: u32) -> &str {
        self.functions.get(frame as usize).map_or("", String::as_str)
    }
}

/// Estimates the size of the decoded message from its outermost fields: each is a structure, and each number
/// inside (one byte below 0x80 ends it in protobuf's encoding) takes eight bytes. Stops at invalid data, as
/// the decoder does.
fn memory(mut bytes: &[u8]) -> usize {
    // Strings take as many bytes in memory.
    const STRING: u64 = 6;
    let mut size = 0_usize;
    while let Some(tag) = varint(&mut bytes) {
        let length = match tag & 7 {
            0 => varint(&mut bytes).map(|_| 0),
            1 => Some(8),
            2 => varint(&mut bytes).and_then(|length| usize::try_from(length).ok()),
            5 => Some(4),
            // Start or end of a group: its contents are counted.
            _ => Some(0),
        };
        let Some((field, rest)) = length.and_then(|length| bytes.split_at_checked(length)) else { break };
        bytes = rest;
        let numbers = match tag >> 3 {
            STRING => field.len(),
            _ => field.iter().filter(|byte| **byte < 0x80).count().saturating_mul(size_of::<u64>()),
        };
        size = size.saturating_add(size_of::<Sample>()).saturating_add(numbers);
    }
    size
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    const LONGEST: usize = 10;
    let end = bytes.iter().take(LONGEST).position(|byte| *byte < 0x80)?;
    let (number, rest) = bytes.split_at_checked(end + 1)?;
    *bytes = rest;
    Some(number.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)))
}

/// Indices of the sample count and the CPU time among a sample's values.
fn columns(profile: &Profile) -> Result<(Option<usize>, usize), NotAProfile> {
    let word = |number: i64| text(profile, number);
    let find = |kind: &str, unit: &str| {
        profile.sample_type.iter().position(|value| word(value.r#type) == kind && word(value.unit) == unit)
    };
    let counted = || {
        let kinds: Vec<&str> = profile.sample_type.iter().take(8).map(|value| word(value.r#type)).collect();
        if kinds.is_empty() { "nothing".to_owned() } else { plain(&kinds.join(", ")) }
    };
    let cpu = find("cpu", "nanoseconds").ok_or_else(|| NotAProfile::NotCpu(counted()))?;
    Ok((find("samples", "count"), cpu))
}

/// Names of functions, the first one empty, and the index of each function id.
fn functions(profile: &Profile) -> (Vec<String>, HashMap<u64, u32>) {
    let mut names = vec![String::new()];
    let mut indices: HashMap<i64, u32> = HashMap::new();
    let mut index_of_id = HashMap::new();
    for function in &profile.function {
        let index = *indices.entry(function.name).or_insert_with(|| {
            let name = plain(text(profile, function.name));
            if name.is_empty() {
                return 0;
            }
            names.push(name);
            names.len() as u32 - 1
        });
        index_of_id.entry(function.id).or_insert(index);
    }
    (names, index_of_id)
}

fn text(profile: &Profile, number: i64) -> &str {
    usize::try_from(number).ok().and_then(|index| profile.string_table.get(index)).map_or("", String::as_str)
}

fn value(sample: &Sample, column: usize) -> u64 {
    sample.value.get(column).copied().unwrap_or(0).max(0) as u64
}

#[cfg(test)]
pub(super) mod unit {
    use std::io::Write;

    use ::pprof::{Function, Line, ValueType};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    /// Recorded profiles; see their README.
    pub const NETHTTP: &[u8] = include_bytes!("../../tests/data/nethttp.pb.gz");
    pub const FASTHTTP: &[u8] = include_bytes!("../../tests/data/fasthttp.pb.gz");
    pub const GNET: &[u8] = include_bytes!("../../tests/data/gnet.pb.gz");
    pub const MULTIPLEXED: &[u8] = include_bytes!("../../tests/data/multiplexed.pb.gz");
    pub const GC: &[u8] = include_bytes!("../../tests/data/gc.pb.gz");

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    /// A profile of stacks given as `leaf caller …`; every sample is 10 ms of CPU.
    pub fn profile(stacks: &[(&str, u64)]) -> CpuProfile {
        let mut profile = CpuProfile { functions: vec![String::new()], ..CpuProfile::default() };
        for (stack, samples) in stacks {
            let start = profile.frames.len();
            for name in stack.split_whitespace() {
                let index = profile.functions.iter().position(|function| function == name);
                if index.is_none() {
                    profile.functions.push(name.to_owned());
                }
                let index = index.unwrap_or(profile.functions.len() - 1);
                profile.frames.push(index as u32);
            }
            profile.stacks.push(Stack {
                frames: start..profile.frames.len(),
                samples: *samples,
                nanoseconds: samples * 10_000_000,
            });
        }
        profile
    }

    fn message() -> Profile {
        Profile {
            sample_type: vec![ValueType { r#type: 1, unit: 2 }, ValueType { r#type: 3, unit: 4 }],
            // Ids with gaps and in no order.
            sample: vec![Sample {
                location_id: vec![900, 7, 55],
                value: vec![3, 30_000_000],
                label: Vec::new(),
            }],
            location: vec![
                Location { id: 7, line: vec![Line { function_id: 12 }] },
                Location { id: 900, line: vec![Line { function_id: 77 }, Line { function_id: 5 }] },
            ],
            function: vec![
                Function { id: 5, name: 5, system_name: 0 },
                Function { id: 12, name: 6, system_name: 0 },
                Function { id: 77, name: 7, system_name: 0 },
            ],
            string_table: ["", "samples", "count", "cpu", "nanoseconds", "write", "main", "inlined"]
                .map(str::to_owned)
                .to_vec(),
            duration_nanos: 2_500_000_000,
            period: 10_000_000,
            comment: Vec::new(),
        }
    }

    #[test]
    fn the_leaf_comes_first_and_inlined_calls_are_frames() {
        let read = CpuProfile::read(&packed(&message().encode_to_vec())).unwrap();
        let stack = read.stacks().next().unwrap();
        let names: Vec<&str> = stack.frames.iter().map(|frame| read.name(*frame)).collect();
        assert_eq!(names, ["inlined", "write", "main", ""], "a place that is not described has no name");
        assert_eq!((stack.samples, stack.nanoseconds, read.samples()), (3, 30_000_000, 3));
        assert_eq!((read.seconds, read.period, read.cpu()), (2.5, 10_000_000, 0.03));
    }

    #[test]
    fn recorded_profiles_agree_with_go_tool_pprof() {
        // `go tool pprof -top`: "Duration: 8s, Total samples = 8.27s"
        for (bytes, seconds, cpu) in
            [(NETHTTP, 8.0, 8.27), (FASTHTTP, 8.01, 4.01), (GNET, 8.0, 4.76), (GC, 8.0, 7.67)]
        {
            let read = CpuProfile::read(bytes).unwrap();
            assert!((read.seconds - seconds).abs() < 0.01, "{} s", read.seconds);
            assert!((read.cpu() - cpu).abs() < 1e-9, "{} s of CPU", read.cpu());
            assert_eq!(read.samples() * read.period, (cpu * 1e9).round() as u64);
        }
    }

    #[test]
    fn other_bytes_are_no_cpu_profile_for_a_reason() {
        let not = |bytes: &[u8]| CpuProfile::read(bytes).unwrap_err();
        assert!(matches!(not(b"404 page not found"), NotAProfile::Packed(_)));
        assert!(matches!(not(&packed(b"404 page not found")), NotAProfile::Message(_)));
        assert!(matches!(not(&NETHTTP[..NETHTTP.len() / 2]), NotAProfile::Packed(_)), "cut off");
        assert_eq!(not(&packed(b"")), NotAProfile::NotCpu("nothing".to_owned()));
        let mut heap = message();
        heap.string_table[3] = "alloc_space".to_owned();
        assert_eq!(
            not(&packed(&heap.encode_to_vec())),
            NotAProfile::NotCpu("samples, alloc_space".to_owned())
        );
    }

    #[test]
    fn sizes_are_bounded() {
        let zeros = vec![0; MAX_BYTES as usize + 1];
        assert_eq!(CpuProfile::read(&packed(&zeros)), Err(NotAProfile::Large));
        // Few bytes, many frames: 3000 addresses with 3000 lines each.
        let mut wide = message();
        wide.location[0].line = vec![Line { function_id: 12 }; 3000];
        wide.sample[0].location_id = vec![7; 3000];
        assert_eq!(CpuProfile::read(&packed(&wide.encode_to_vec())), Err(NotAProfile::Large));
        // Few bytes, much memory: empty samples, each a structure; numbers of one byte.
        let empty = [0x12, 0].repeat(2 << 20);
        assert_eq!(CpuProfile::read(&packed(&empty)), Err(NotAProfile::Large));
        let mut long = message();
        long.sample[0].location_id = vec![7; 6 << 20];
        assert_eq!(CpuProfile::unpacked(&long.encode_to_vec()), Err(NotAProfile::Large));
    }

    #[test]
    fn recorded_profiles_are_far_from_the_bound_of_memory() {
        for recorded in [NETHTTP, FASTHTTP, GNET, MULTIPLEXED, GC] {
            let mut bytes = Vec::new();
            GzDecoder::new(recorded).read_to_end(&mut bytes).unwrap();
            let times = memory(&bytes) as f64 / bytes.len() as f64;
            assert!((1.0..8.0).contains(&times), "{times}");
        }
        assert_eq!(memory(&[]), 0);
        assert_eq!(memory(&[0x12]), 0, "a length is missing");
        assert_eq!(memory(&[0x80; 40]), 0, "a number without end");
        assert_eq!(memory(&[0x12, 2, 7, 7]), size_of::<Sample>() + 16);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn mutated_bytes_never_panic(changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..40), cut in any::<proptest::sample::Index>()) {
            // Mutates below gzip: its checksum would reject every change.
            let mut bytes = Vec::new();
            GzDecoder::new(FASTHTTP).read_to_end(&mut bytes).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
                if let Ok(profile) = Profile::decode(bytes) && let Ok(read) = CpuProfile::from_message(&profile) {
                    let split = super::super::buckets::split(&read);
                    let sum: u64 = split.buckets.iter().map(|bucket| bucket.nanoseconds).fold(0, u64::saturating_add);
                    prop_assert_eq!(sum, split.nanoseconds);
                }
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let _ = CpuProfile::read(&bytes);
            let _ = CpuProfile::read(&packed(&bytes));
        }
    }
}
