//! The owner of a call for memory: which of its frames belong to the C library, to allocators and to a language's
//! runtime, and which function of the program called them. By files; in programs that have an allocator built in, by the names
//! of functions. Pure.

use std::collections::{HashMap, HashSet};

use suites::faults::{Call, Memory};

use crate::allocator::{is_allocator, is_runtime};
use crate::classify::Owners;
use crate::trace::call_counts::{CallCounts, Caller, Sum};
use crate::trace::collect::{Collector, is_c_library};
use crate::trace::frame::Frame;
use crate::trace::program_files::ProgramFiles;
use crate::trace::symbols::{Function, Names};

/// What called the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The C library, such as its malloc.
    Malloc,
    /// Another allocator.
    Allocator,
    /// A language's runtime, for its own heap.
    Runtime,
    Program,
}

/// The functions of a call, the innermost first.
#[derive(Clone, Debug)]
pub struct CallPath<'a> {
    pub owner: Owner,
    /// Functions of the C library and of allocators, from the system call on.
    pub via: Vec<&'a Function>,
    /// Functions of the program, from the first on.
    pub program: Vec<&'a Function>,
}

/// Functions that do nothing but make the call.
const WRAPPERS: &[&str] = &["mmap", "mmap64", "munmap", "mremap", "madvise", "brk", "sbrk", "syscall"];
/// Functions of malloc, in programs that are linked statically.
const MALLOC_FUNCTIONS: &[&str] = &[
    "malloc",
    "free",
    "cfree",
    "calloc",
    "realloc",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "valloc",
    "reallocarray",
    "malloc_trim",
    "sysmalloc",
    "sysmalloc_mmap",
    "sysmalloc_mmap_fallback",
    "systrim",
    "munmap_chunk",
    "mremap_chunk",
    "heap_trim",
    "grow_heap",
    "shrink_heap",
    "new_heap",
    "alloc_new_heap",
    "glibc_morecore",
    "default_morecore",
    "malloc_consolidate",
];
const MALLOC_PREFIXES: &[&str] = &["_int_", "tcache_", "arena_get", "ptmalloc_"];
/// Functions of languages and their libraries between malloc and the program.
const LANGUAGE_PREFIXES: &[&str] = &[
    "operator new",
    "operator delete",
    "__rust_",
    "__rdl_",
    "__rg_",
    "alloc::",
    "<alloc::",
    "core::ptr::",
    "core::mem::drop",
    "<core::",
    "std::alloc",
    "<std::alloc",
    "std::sys::alloc",
    "<std::sys::alloc",
    "hashbrown::",
    "<hashbrown::",
    "std::vector<",
    "std::__cxx11::basic_string<",
    "std::__new_allocator<",
    "std::allocator",
    "std::_",
    "__gnu_cxx::",
];
/// Functions of allocators and runtimes that are built in.
const ALLOCATOR_PREFIXES: &[&str] =
    &["je_", "_rjem_", "mi_", "_mi_", "tc_", "tcmalloc::", "rpmalloc", "sn_", "snmalloc::", "scudo"];
/// Functions of runtimes that are the program's own file: Go, V8.
const RUNTIME_PREFIXES: &[&str] = &["runtime.", "v8::", "cppgc::"];

fn begins(name: &str, with: &[&str]) -> bool {
    with.iter().any(|beginning| name.starts_with(beginning))
}

/// The name without the underscores and the prefix that a C library puts in front.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("__libc_").or_else(|| name.strip_prefix("__GI_")).unwrap_or(name);
    name.trim_start_matches("__")
}

pub fn call_path<'a>(caller: &Caller, names: &'a Names, collector: &Collector) -> CallPath<'a> {
    let (mut via, mut program): (Vec<&Function>, Vec<&Function>) = (Vec::new(), Vec::new());
    let mut owner = Owner::Program;
    let interpreter = interpreter(collector, caller.program);
    for frame in &caller.frames {
        let file = frame.0.and_then(|image| collector.frames.images.get(image as usize));
        let file = file.map_or("", |(name, _)| &**name);
        for function in names.get(frame).into_iter().flatten() {
            let role = match program.is_empty() {
                true => role_in(&function.name, file, interpreter),
                false => Role::Program,
            };
            match role {
                Role::Program => program.push(function),
                _ => via.push(function),
            }
            owner = match (role, owner) {
                (Role::Allocator, _) => Owner::Allocator,
                // The innermost decides between these two: a runtime calls malloc for what is not in its heap.
                (Role::Malloc, Owner::Program) => Owner::Malloc,
                (Role::Runtime, Owner::Program) => Owner::Runtime,
                _ => owner,
            };
        }
    }
    via.dedup_by(|a, b| a.name == b.name);
    program.dedup_by(|a, b| a.name == b.name);
    CallPath { owner, via, program }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Wrapper,
    Malloc,
    Language,
    Allocator,
    Runtime,
    Program,
}

/// The files of a program that is a language's interpreter.
fn interpreter(collector: &Collector, program: u32) -> Option<&ProgramFiles> {
    let program = collector.tasks.programs.get(program as usize)?;
    program.hints.as_ref()?.runtime.as_ref()?;
    program.files.as_ref()
}

/// The role of a function in a program whose interpreter is its own file, if it is one: its code asks for its
/// own heap.
fn role_in(name: &str, file: &str, interpreter: Option<&ProgramFiles>) -> Role {
    match role(name, file) {
        Role::Program if interpreter.is_some_and(|files| files.is_own(file)) => Role::Runtime,
        role => role,
    }
}

/// The innermost function of a site that is the program's own; `None` if its own code is further in, without a name.
pub fn own_function<'a>(
    frames: &[Frame],
    program: u32,
    names: &'a Names,
    collector: &Collector,
) -> Option<&'a str> {
    let interpreter = interpreter(collector, program);
    let own = |frame: &Frame| {
        let (file, _) = collector.frames.images.get(frame.0? as usize)?;
        let mut functions = names.get(frame)?.iter().map(|function| function.name.as_str());
        let own = functions.find(|name| role_in(name, file, interpreter) == Role::Program)?;
        Some((frame.0?, own))
    };
    innermost(frames.iter().filter_map(own))
}

/// The first function with a name, of an image without nameless code further in: an exported function that calls all others
/// of a stripped program is no place of theirs.
fn innermost<'a>(functions: impl Iterator<Item = (u32, &'a str)>) -> Option<&'a str> {
    let mut nameless = HashSet::new();
    for (image, name) in functions {
        if name.starts_with('[') {
            nameless.insert(image);
        } else if !nameless.contains(&image) {
            return Some(name);
        }
    }
    None
}

fn role(name: &str, file: &str) -> Role {
    let short = plain(name);
    if is_allocator(file) || begins(name, ALLOCATOR_PREFIXES) {
        Role::Allocator
    } else if is_runtime(file) || begins(name, RUNTIME_PREFIXES) {
        Role::Runtime
    } else if WRAPPERS.contains(&short) {
        Role::Wrapper
    } else if MALLOC_FUNCTIONS.contains(&short) || begins(name, MALLOC_PREFIXES) {
        Role::Malloc
    } else if is_c_library(file) {
        // The C library maps stacks of threads too: these are not malloc's.
        if short.contains("pthread") || short.contains("nptl") || short == "start_thread" {
            Role::Wrapper
        } else {
            Role::Malloc
        }
    } else if begins(name, LANGUAGE_PREFIXES) {
        Role::Language
    } else {
        Role::Program
    }
}

/// Bytes that a call or a mapping counts for at most: one of memory that is only reserved may be of any size.
pub const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0;
/// Samples of calls from which on their owners are known.
const ENOUGH: f64 = 8.0;

/// Whether memory is given back by other means than a purge of mappings.
pub fn is_heap_or_file(memory: Memory) -> bool {
    matches!(memory, Memory::Heap | Memory::File | Memory::Dax)
}

/// What calls weigh: their bytes, as pages come back by these. Calls of unknown size are of one page.
fn weight(sum: &Sum) -> f64 {
    const PAGE: f64 = 4096.0;
    sum.calls * sum.mean_bytes().unwrap_or(PAGE).min(MOST_BYTES)
}

/// The shares of what these calls gave back that malloc_trim did, for each program.
pub fn trims(collector: &Collector, names: &Names, calls: &[Call]) -> HashMap<u32, f64> {
    const TRIMS: [&str; 2] = ["malloc_trim", "mtrim"];
    let mut sums: HashMap<u32, (f64, f64)> = HashMap::new();
    for (caller, (sum, _)) in &collector.call_counts.callers {
        if calls.contains(&caller.call) {
            let path = call_path(caller, names, collector);
            let is_trim = path.via.iter().any(|function| TRIMS.contains(&plain(&function.name)));
            let (trims, all) = sums.entry(caller.program).or_default();
            let weight = weight(sum);
            (*trims, *all) = (*trims + if is_trim { weight } else { 0.0 }, *all + weight);
        }
    }
    sums.into_iter().map(|(program, (trims, all))| (program, trims / all.max(1.0))).collect()
}

/// The owners of these calls, for each program with enough samples.
pub fn owners(collector: &Collector, names: &Names, calls: &[Call]) -> HashMap<u32, Owners> {
    let CallCounts { callers, .. } = &collector.call_counts;
    let mut sums: HashMap<u32, (Owners, f64)> = HashMap::new();
    for (caller, (sum, samples)) in callers.iter().filter(|(caller, _)| calls.contains(&caller.call)) {
        let (owners, sum_of_samples) = sums.entry(caller.program).or_default();
        *sum_of_samples += samples;
        *match call_path(caller, names, collector).owner {
            Owner::Malloc => &mut owners.malloc,
            Owner::Allocator => &mut owners.allocator,
            Owner::Runtime => &mut owners.runtime,
            Owner::Program => &mut owners.program,
        } += weight(sum);
    }
    let enough = sums.into_iter().filter(|(_, (_, samples))| *samples >= ENOUGH);
    enough.map(|(program, (owners, _))| (program, owners.shares())).collect()
}

/// The most of the bytes that these calls gave back, of no heap and no file, that is not by the program's own code: shares, 0 to 1, for each
/// program with enough samples.
pub fn others(collector: &Collector, names: &Names, calls: &[Call]) -> HashMap<u32, f64> {
    let mut sums: HashMap<u32, (f64, f64, f64)> = HashMap::new();
    for (caller, (sum, samples)) in &collector.call_counts.callers {
        let is_it = calls.contains(&caller.call) && !is_heap_or_file(caller.memory);
        let Some(bytes) = sum.all_bytes().filter(|_| is_it) else { continue };
        let by_others = if call_path(caller, names, collector).owner == Owner::Program { 0.0 } else { bytes };
        let (others, all, of_samples) = sums.entry(caller.program).or_default();
        (*others, *all, *of_samples) = (*others + by_others, *all + bytes, *of_samples + samples);
    }
    let enough = sums.into_iter().filter(|(_, (_, all, samples))| *samples >= ENOUGH && *all > 0.0);
    // What no sample shows may be 3 of so many (the rule of three).
    enough
        .map(|(program, (others, all, samples))| (program, (others / all).max(3.0 / samples).min(1.0)))
        .collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    fn divide(functions: &[(&str, &str)]) -> (Owner, Vec<String>, Vec<String>) {
        let mut names = Names::new();
        let mut frames = Vec::new();
        for (address, (name, _)) in functions.iter().enumerate() {
            let function = Function { name: (*name).to_owned(), line: None };
            names.insert((None, address as u64), vec![function]);
            frames.push((None, address as u64));
        }
        let memory = Memory::Mapping;
        let caller = Caller { program: 0, call: Call::Munmap, memory, frames: frames.into() };
        let call_path = call_path(&caller, &names, &Collector::new(4096));
        let names = |all: &[&Function]| all.iter().map(|function| function.name.clone()).collect();
        (call_path.owner, names(&call_path.via), names(&call_path.program))
    }

    #[test]
    fn a_program_is_behind_its_allocator() {
        let divide = |names: &[&str]| divide(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>());
        let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            divide(&["__munmap", "munmap_chunk", "__libc_free", "answer", "main"]),
            (Owner::Malloc, words(&["__munmap", "munmap_chunk", "__libc_free"]), words(&["answer", "main"]))
        );
        assert_eq!(divide(&["__brk", "__sbrk", "main"]).0, Owner::Program);
        assert_eq!(
            divide(&["__brk", "__sbrk", "__glibc_morecore", "systrim", "_int_free", "main"]).0,
            Owner::Malloc
        );
        assert_eq!(
            divide(&["munmap", "answer", "free"]),
            (Owner::Program, words(&["munmap"]), words(&["answer", "free"]))
        );
        assert_eq!(divide(&["runtime.madvise", "runtime.sysUnused", "main.main"]).0, Owner::Runtime);
        assert_eq!(
            divide(&["madvise", "_rjem_je_pages_purge_forced", "alloc::alloc::dealloc", "serve"]).2,
            words(&["serve"])
        );
        assert_eq!(divide(&["madvise", "_rjem_je_pages_purge_forced", "serve"]).0, Owner::Allocator);
        assert_eq!(
            divide(&["munmap", "__libc_free", "core::ptr::drop_in_place<x>", "Server::answer"]).2,
            words(&["Server::answer"])
        );
    }

    #[test]
    fn the_file_decides_too() {
        assert_eq!(role("_nl_load_locale", "/lib/libc.so.6"), Role::Malloc, "by itself");
        assert_eq!(
            role("__nptl_free_stacks", "/lib/libc.so.6"),
            Role::Wrapper,
            "stacks are none of malloc's"
        );
        assert_eq!(role("os::commit_memory", "/jvm/libjvm.so"), Role::Runtime);
        assert_eq!(role("_PyObject_ArenaMunmap", "/usr/lib/libpython3.11.so.1.0"), Role::Runtime);
        assert_eq!(role("answer", "/usr/bin/server"), Role::Program);
    }

    #[test]
    fn a_runtime_owns_what_it_asks_for_itself() {
        let owner = |names: &[&str]| divide(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>()).0;
        assert_eq!(
            owner(&["__munmap", "v8::base::OS::Free", "v8::internal::MemoryAllocator::Free"]),
            Owner::Runtime
        );
        assert_eq!(
            owner(&["__munmap", "munmap_chunk", "__libc_free", "v8::internal::BackingStore::~BackingStore"]),
            Owner::Malloc,
            "a buffer is malloc's"
        );
        assert_eq!(
            owner(&["__munmap", "numpy_free", "v8::Call"]),
            Owner::Program,
            "an extension is the program"
        );
    }

    /// CPython's file is the program: its functions own the arenas, and those of extensions do not.
    #[test]
    fn an_interpreter_is_the_programs_own_file() {
        let files = ProgramFiles::named("/usr/bin/python3.11");
        let python = Some(&files);
        let role = |name, file, interpreter| role_in(name, file, interpreter);
        assert_eq!(role("_PyObject_ArenaMunmap", "/usr/bin/python3.11", python), Role::Runtime);
        assert_eq!(
            role("arena", "/usr/bin/python3.11", None),
            Role::Program,
            "of a file that is no interpreter"
        );
        assert_eq!(role("mmap_close", "/usr/lib/python3/mmap.so", python), Role::Program);
        assert_eq!(role("__libc_free", "/lib/libc.so.6", python), Role::Malloc);
    }

    #[test]
    fn a_place_is_the_innermost_function_whose_name_is_known() {
        let (program, library) = (0, 1);
        for (functions, expected) in [
            (vec![(program, "fill"), (program, "main")], Some("fill")),
            // A library without names, called by a program with them.
            (vec![(library, "[libpng.so]"), (program, "load"), (program, "main")], Some("load")),
            // A stripped browser: all that has a name is its entry.
            (vec![(program, "[browser]"), (program, "BrowserMain")], None),
            (vec![(library, "[libpng.so]"), (library, "png_read"), (program, "load")], Some("load")),
            (vec![], None),
        ] {
            assert_eq!(innermost(functions.clone().into_iter()), expected, "{functions:?}");
        }
    }
}
