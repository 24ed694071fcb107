//! Words of page faults that a record holds: by which mechanism a program faults, and who manages its memory.

use std::fmt;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal, $description:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its word in ids and conditions.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// For people.
            pub fn description(self) -> &'static str {
                match self { $($name::$variant => $description,)* }
            }

            /// The one of this word.
            pub fn of(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.word() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

words! {
    /// Why pages are faulted in.
    Mechanism {
        /// Blocks are mapped for each use and given back after it: mmap and munmap.
        MapChurn = "map-churn", "blocks mapped and unmapped for each use";
        /// The end of the heap is given back and asked for again: brk down and up.
        HeapTrim = "heap-trim", "the end of the heap given back and taken again";
        /// malloc_trim gives all free pages back, within the heap too, by madvise (glibc).
        MallocTrim = "malloc-trim", "free memory given back by malloc_trim and used again";
        /// The end of a thread's arena is given back by madvise and touched again (glibc).
        ArenaTrim = "arena-trim", "the end of a thread's arena given back and touched again";
        /// An allocator or a garbage collector gives free pages back (madvise) and uses them again.
        Purge = "purge", "free pages given back by the allocator and used again";
        /// The first write to a page that is shared since a fork.
        CopyOnWrite = "copy-on-write", "pages copied at the first write after a fork";
        /// Memory that was never used before: growth, or a first touch.
        Growth = "growth", "first touch of memory that stays";
        /// Stacks of threads, of which each new one faults its own in.
        Stacks = "stacks", "stacks of short-lived threads";
        /// Pages of files: program text, libraries, mapped data.
        File = "file", "pages of files";
        /// Pages of files that are mapped without the page cache: persistent memory.
        Dax = "dax", "pages of files that are mapped without the page cache (DAX)";
        /// The first write to a page of a private mapping of a file: the kernel copies it.
        FileCopy = "file-copy", "pages of files, copied at the first write (MAP_PRIVATE)";
        /// Pages of shared memory that another process, or an earlier mapping, has brought in already.
        SharedMap = "shared-map", "pages of shared memory that were there, mapped by each process";
        /// Pages that the kernel took for other use: swapped out, or dropped from the page cache.
        Reclaim = "reclaim", "pages that the kernel reclaimed and the program uses again";
        /// Equal pages that the kernel merged (KSM), copied at the next write.
        Unmerge = "ksm", "pages that KSM merged, copied at the next write";
        /// Pages that were read before they were written: the page of zeros is mapped, then copied.
        ZeroPage = "zero-page", "pages of zeros that were read first, then copied at the first write";
        /// Pages that another thread or process provides (userfaultfd).
        Userfault = "userfaultfd", "pages that a handler of userfaultfd provides";
        /// Each start of a short program: its loader, its libraries, its first memory.
        StartUp = "start-up", "the start of short-lived programs";
        /// The kernel takes pages away to see who uses them (automatic NUMA balancing).
        NumaHinting = "numa-hinting", "pages taken away by NUMA balancing";
        /// Huge pages, of which each fault zeroes 2 MB and more.
        HugePages = "huge-pages", "huge pages, zeroed whole";
        /// None of these is proved.
        Unexplained = "unexplained", "by no mechanism that is proved";
    }
}

words! {
    /// The memory manager: its behaviour causes the faults, and its settings help.
    Manager {
        /// The GNU C library's malloc.
        Glibc = "glibc", "glibc's malloc";
        /// musl's malloc.
        Musl = "musl", "musl's malloc";
        /// jemalloc.
        Jemalloc = "jemalloc", "jemalloc";
        /// mimalloc.
        Mimalloc = "mimalloc", "mimalloc";
        /// tcmalloc of gperftools.
        Tcmalloc = "tcmalloc", "tcmalloc (gperftools)";
        /// Google's tcmalloc.
        GoogleTcmalloc = "google-tcmalloc", "tcmalloc (Google)";
        /// oneTBB's allocator.
        Tbbmalloc = "tbbmalloc", "tbbmalloc";
        /// LLVM's hardened allocator.
        Scudo = "scudo", "scudo";
        /// Hoard.
        Hoard = "hoard", "Hoard";
        /// snmalloc.
        Snmalloc = "snmalloc", "snmalloc";
        /// rpmalloc.
        Rpmalloc = "rpmalloc", "rpmalloc";
        /// Go's runtime.
        Go = "go", "Go's runtime";
        /// A Java virtual machine.
        Jvm = "jvm", "the Java virtual machine";
        /// CPython's allocator of small objects; larger blocks come from malloc.
        Pymalloc = "pymalloc", "CPython's pymalloc";
        /// The heap of V8, as in Node.js; buffers come from malloc.
        V8 = "v8", "V8's heap";
        /// The memory manager of PHP.
        Zend = "zend", "PHP's memory manager";
        /// The object heap of CRuby; the contents of large objects come from malloc.
        Ruby = "ruby", "Ruby's object heap";
        /// The program itself calls the kernel.
        Program = "program", "the program itself";
    }
}

impl Manager {
    /// Whether it is the malloc of a C library.
    pub fn is_c_library(self) -> bool {
        matches!(self, Manager::Glibc | Manager::Musl)
    }

    /// Whether it is a language's own, with a malloc next to it in the same process.
    pub fn is_runtime(self) -> bool {
        use Manager::{Go, Jvm, Pymalloc, Ruby, V8, Zend};
        matches!(self, Go | Jvm | Pymalloc | V8 | Zend | Ruby)
    }
}

words! {
    /// What a program asks of the kernel for its memory.
    Call {
        /// Maps memory of no file.
        Mmap = "mmap", "mmap";
        /// Gives a mapping back.
        Munmap = "munmap", "munmap";
        /// Moves a mapping, or changes its size.
        Mremap = "mremap", "mremap";
        /// Moves the end of the heap up.
        BrkUp = "brk-up", "brk up";
        /// Moves the end of the heap down: gives it back.
        BrkDown = "brk-down", "brk down";
        /// Gives pages back, and keeps the mapping.
        Dontneed = "dontneed", "madvise(DONTNEED)";
        /// Lets the kernel have pages when it needs some, and keeps the mapping.
        Free = "free", "madvise(FREE)";
        /// Other advice, about huge pages and the like.
        Advice = "advice", "madvise, other";
    }
}

impl Call {
    /// Whether it gives memory back.
    pub fn gives_back(self) -> bool {
        matches!(self, Call::Munmap | Call::BrkDown | Call::Dontneed | Call::Free)
    }
}

words! {
    /// What kind of memory a page belongs to.
    Memory {
        /// The heap, which brk(2) moves.
        Heap = "heap", "heap";
        /// A thread's arena (glibc).
        Arena = "arena", "thread arena";
        /// A mapping of no file.
        Mapping = "mapping", "mapping";
        /// The first thread's stack.
        Stack = "stack", "stack";
        /// Another thread's stack.
        ThreadStack = "thread-stack", "thread stack";
        /// A file: program text, libraries, mapped data.
        File = "file", "file";
        /// A file that is mapped without the page cache.
        Dax = "dax", "file without page cache (DAX)";
        /// A private mapping of a file that may be written.
        PrivateFile = "private-file", "private mapping of a file";
        /// Memory of several processes: shm_open, memfd_create, shmget, MAP_SHARED without a file.
        Shared = "shared", "shared memory";
        /// Memory that is registered with userfaultfd.
        Userfault = "userfault", "memory registered with userfaultfd";
        /// No mapping that is known.
        Unknown = "unknown", "unknown";
    }
}

impl Memory {
    /// Whether it is a file's, with its page cache or without.
    pub fn is_file(self) -> bool {
        matches!(self, Memory::File | Memory::Dax | Memory::PrivateFile)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn each_word_means_one() {
        for one in Mechanism::ALL {
            assert_eq!(Mechanism::of(one.word()), Some(*one));
        }
        for one in Manager::ALL {
            assert_eq!(Manager::of(one.word()), Some(*one));
        }
        for one in Memory::ALL {
            assert_eq!(Memory::of(one.word()), Some(*one));
        }
        assert_eq!((Mechanism::of(""), Manager::of("ptmalloc")), (None, None));
    }
}
