//! Counts instructions by function, and decides which of STREAM's kernels a function looks like.

use std::collections::BTreeMap;

use serde::Serialize;

use super::elf::{Architecture, Span};

/// Starts of the names of libc's memory functions, of which a static binary holds many versions.
const LIBC: &[&str] =
    &["__mem", "mem", "__str", "str", "__wmem", "wmem", "__rawmem", "_intel_fast_mem", "__intel_", "__x86_"];
/// What the names of functions hold that compilers made of one parallel loop (gcc, clang, icx, icc).
const OUTLINED: &[&str] = &["_omp_fn", "omp_outlined", "$omp$", "..omp_par", "__par_loop", "__par_region"];
/// Starts of the names of the benchmark's functions: in a static binary others may be a library's.
const OWN: &[&str] = &["main", "tuned_stream_", "stream"];
/// STREAM's own names for kernels in functions of their own (stream.c, TUNED), and others'.
const NAMED: &[(&str, &str)] = &[("copy", "Copy"), ("scale", "Scale"), ("add", "Add"), ("triad", "Triad")];
/// The most functions that are listed: files are untrusted.
const MOST_FUNCTIONS: usize = 64;
/// Loads for each store from which on a loop reads two arrays and not one.
const TWO_ARRAYS: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Nontemporal(&'static str),
    /// Stores a vector register, whole or in part.
    Store(Width),
    /// Loads a floating-point number or a vector of them from an array.
    Load,
    Multiply,
    Add,
    Fused,
    /// Calls, or ends in, a memory function.
    Call(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Of what: a mnemonic, or a function that is called.
    pub name: String,
    pub count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Width(pub u16);

impl Width {
    /// With the name of the register: `32 B (ymm)`.
    pub fn on(self, architecture: Architecture) -> String {
        let register = match (self.0, architecture) {
            (64, Architecture::X86) => "zmm",
            (32, Architecture::X86) => "ymm",
            (16, Architecture::X86) => "xmm",
            (16, Architecture::Arm) => "q",
            _ => "one number at a time",
        };
        format!("{} B ({register})", self.0)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its symbol, untrusted; empty where there are none.
    pub name: String,
    /// STREAM's kernel that it looks like: by its name, or the outlined body of a loop by its instructions.
    pub kernel: Option<&'static str>,
    pub nontemporal: usize,
    pub calls: Vec<&'static str>,
    pub widest: Option<Width>,
    #[serde(skip)]
    loads: usize,
    #[serde(skip)]
    stores: usize,
    #[serde(skip)]
    multiplies: bool,
    #[serde(skip)]
    adds: bool,
    #[serde(skip)]
    fuses: bool,
}

/// The counts of a whole binary.
#[derive(Debug)]
pub(super) struct Totals {
    pub nontemporal: Vec<Count>,
    pub calls: Vec<Count>,
    pub widest: Option<Width>,
    pub functions: Vec<Function>,
}

#[derive(Debug)]
pub(super) struct Tally<'a> {
    spans: &'a [Span],
    /// Whether functions that may be a library's are left out.
    only_own: bool,
    /// By the function's place in `spans`; `None` for code outside of any.
    functions: BTreeMap<Option<usize>, Function>,
    mnemonics: BTreeMap<&'static str, usize>,
    calls: BTreeMap<&'static str, usize>,
    widest: Option<Width>,
}

impl<'a> Tally<'a> {
    /// `is_static`: libraries are part of the code, and functions are distinguished by name if they have names.
    pub fn new(spans: &'a [Span], is_static: bool) -> Self {
        let only_own = is_static && !spans.is_empty();
        let (functions, mnemonics, calls) = Default::default();
        Tally { spans, only_own, functions, mnemonics, calls, widest: None }
    }

    pub fn take(&mut self, address: u64, fact: Fact) {
        let index = self.spans.partition_point(|span| span.start <= address).checked_sub(1);
        let index =
            index.filter(|&at| self.spans[at].end > address || self.spans[at].end == self.spans[at].start);
        let name = index.map_or("", |at| self.spans[at].name.as_str());
        if LIBC.iter().any(|start| name.starts_with(start)) || (self.only_own && !is_own(name)) {
            return;
        }
        let function = self
            .functions
            .entry(index)
            .or_insert_with(|| Function { name: name.to_owned(), ..Function::default() });
        match fact {
            Fact::Nontemporal(mnemonic) => {
                function.nontemporal += 1;
                *self.mnemonics.entry(mnemonic).or_default() += 1;
            }
            Fact::Store(width) => {
                function.stores += 1;
                function.widest = function.widest.max(Some(width));
                self.widest = self.widest.max(Some(width));
            }
            Fact::Load => function.loads += 1,
            Fact::Multiply => function.multiplies = true,
            Fact::Add => function.adds = true,
            Fact::Fused => function.fuses = true,
            Fact::Call(callee) => {
                if !function.calls.contains(&callee) {
                    function.calls.push(callee);
                }
                *self.calls.entry(callee).or_default() += 1;
            }
        }
    }

    pub fn totals(self) -> Totals {
        let counts = |map: BTreeMap<&'static str, usize>| {
            let mut counts: Vec<Count> =
                map.into_iter().map(|(name, count)| Count { name: name.to_owned(), count }).collect();
            counts.sort_by_key(|count| std::cmp::Reverse(count.count));
            counts
        };
        let mut functions: Vec<Function> = self
            .functions
            .into_values()
            .map(|function| Function { kernel: kernel(&function), ..function })
            .filter(|function| {
                function.nontemporal > 0 || !function.calls.is_empty() || function.kernel.is_some()
            })
            .collect();
        functions.truncate(MOST_FUNCTIONS);
        Totals {
            nontemporal: counts(self.mnemonics),
            calls: counts(self.calls),
            widest: self.widest,
            functions,
        }
    }
}

fn is_own(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    OWN.iter().any(|start| name.starts_with(start)) || is_outlined(&name)
}

fn is_outlined(name: &str) -> bool {
    OUTLINED.iter().any(|part| name.contains(part))
}

/// The kernel that a function is, if that is known. A function that holds all loops is none.
fn kernel(function: &Function) -> Option<&'static str> {
    let name = function.name.to_ascii_lowercase();
    if let Some(kernel) = name.strip_prefix("tuned_stream_") {
        return NAMED.iter().find(|(prefix, _)| kernel.starts_with(prefix)).map(|(_, kernel)| *kernel);
    }
    if !is_outlined(&name) {
        return None;
    }
    if function.calls.iter().any(|callee| *callee != "memset") {
        return Some("Copy");
    }
    if function.stores == 0 {
        return None;
    }
    // Compilers make x + x of 2 x, which STREAM computes before it begins: that reads one array, add two.
    let two_arrays = function.loads as f64 >= TWO_ARRAYS * function.stores as f64;
    match (function.multiplies, function.adds, function.fuses) {
        (_, _, true) | (true, true, _) => Some("Triad"),
        (true, false, false) => Some("Scale"),
        (false, true, false) => two_arrays.then_some("Add"),
        (false, false, false) => (function.loads > 0).then_some("Copy"),
    }
}
