//! Binaries that the C compiler makes here (building truebench needs one), what it is known to put in them,
//! and damage.

use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;

use super::*;

/// STREAM's four loops, each in a function named as gcc names the bodies of parallel loops; `store` makes a
/// store of two doubles.
fn source(store: &str, copy: &str) -> String {
    format!(
        "#include <string.h>\n#if defined(__x86_64__)\n#include <emmintrin.h>\ntypedef __m128d v;\n\
         #define LOAD(p) _mm_load_pd(p)\n#define MUL(x, y) _mm_mul_pd(x, y)\n#define ADD(x, y) _mm_add_pd(x, y)\n\
         #define TWO(s) _mm_set1_pd(s)\n#define PLAIN(p, x) _mm_store_pd(p, x)\n\
         #define PAST(p, x) _mm_stream_pd(p, x)\n#else\n#include <arm_neon.h>\ntypedef float64x2_t v;\n\
         #define LOAD(p) vld1q_f64(p)\n#define MUL(x, y) vmulq_f64(x, y)\n#define ADD(x, y) vaddq_f64(x, y)\n\
         #define TWO(s) vdupq_n_f64(s)\n#define PLAIN(p, x) vst1q_f64(p, x)\n\
         #define PAST(p, x) __asm__ volatile(\"stnp %q1, %q1, [%0]\" :: \"r\"(p), \"w\"(x) : \"memory\")\n#endif\n\
         #define N 1000000\nstatic double a[N] __attribute__((aligned(64))), b[N] __attribute__((aligned(64))),\n\
         c[N] __attribute__((aligned(64)));\n\
         #define LOOP(name, body) __attribute__((noinline, used)) static void name(long n, double s) {{ \\\n\
         (void)s; for (long j = 0; j < n; j += 2) {{ body; }} }}\n\
         {copy}\n\
         LOOP(scale_omp_fn_1, {store}(b + j, MUL(TWO(s), LOAD(c + j))))\n\
         LOOP(add_omp_fn_2, {store}(c + j, ADD(LOAD(a + j), LOAD(b + j))))\n\
         LOOP(triad_omp_fn_3, {store}(a + j, ADD(LOAD(b + j), MUL(TWO(s), LOAD(c + j)))))\n\
         int main(int n, char **v) {{ copy_omp_fn_0(n, 3); scale_omp_fn_1(n, 3); add_omp_fn_2(n, 3);\n\
         triad_omp_fn_3(n, 3); return (int)a[n] + (v == 0); }}\n"
    )
}

const LOOP_COPY: &str = "LOOP(copy_omp_fn_0, PLAIN(c + j, LOAD(a + j)))";
const STREAM_COPY: &str = "LOOP(copy_omp_fn_0, PAST(c + j, LOAD(a + j)))";
const CALL_COPY: &str = "__attribute__((noinline, used)) static void copy_omp_fn_0(long n, double s) \
    { (void)s; memcpy(c, a, n * 8); }";

/// Compiles to a program and gives its bytes; `None` where the compiler cannot (no static libc).
fn compiled(source: &str, flags: &[&str]) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (from, to): (PathBuf, PathBuf) = (directory.path().join("t.c"), directory.path().join("t"));
    std::fs::write(&from, source).expect("a file");
    let base = ["-O1", "-fno-tree-vectorize", "-ffp-contract=off", "-fno-builtin-memcpy"];
    let done =
        Command::new("cc").args(base).args(flags).arg(&from).arg("-o").arg(&to).output().expect("cc runs");
    done.status.success().then(|| std::fs::read(&to).expect("a program"))
}

fn inspected(source: &str, flags: &[&str]) -> Inspection {
    inspect(&compiled(source, flags).expect("it compiles")).expect("it is a program")
}

fn kernels(inspection: &Inspection) -> Vec<Option<&'static str>> {
    let kernel = |part: &str| {
        inspection.functions.iter().find(|function| function.name.contains(part)).and_then(|f| f.kernel)
    };
    ["copy_", "scale_", "add_", "triad_"].map(kernel).to_vec()
}

const FOUR: [Option<&str>; 4] = [Some("Copy"), Some("Scale"), Some("Add"), Some("Triad")];

#[test]
fn plain_loops_hold_neither() {
    let inspection = inspected(&source("PLAIN", LOOP_COPY), &[]);
    assert_eq!((inspection.nontemporal_count(), inspection.calls_memcpy()), (0, false), "{inspection:?}");
    assert_eq!(kernels(&inspection), FOUR, "{inspection:?}");
    assert_eq!(inspection.widest, Some(Width(16)));
    assert_eq!(inspection.array_bytes(), Some(8_000_000));
    assert!(!inspection.is_static && !inspection.is_stripped && inspection.openmp.is_empty());
}

#[test]
fn non_temporal_stores_are_counted_where_they_are() {
    let inspection = inspected(&source("PAST", STREAM_COPY), &[]);
    // By what the compiler made: under an emulator it is not this program's architecture.
    let mnemonic = match inspection.architecture {
        Architecture::X86 => "movntpd",
        Architecture::Arm => "stnp",
    };
    assert_eq!(inspection.nontemporal, [Count { name: mnemonic.into(), count: 4 }], "{inspection:?}");
    assert!(inspection.functions.iter().all(|function| function.nontemporal == 1), "{inspection:?}");
    assert_eq!(kernels(&inspection), FOUR, "{inspection:?}");
}

#[test]
fn a_call_of_memcpy_is_found_however_it_is_linked() {
    let source = source("PLAIN", CALL_COPY);
    let ways: &[&[&str]] = &[&[], &["-no-pie", "-fno-pie"], &["-fno-plt"], &["-static"], &["-Wl,-z,now"]];
    for flags in ways {
        let Some(bytes) = compiled(&source, flags) else { continue };
        let inspection = inspect(&bytes).unwrap();
        assert!(inspection.calls_memcpy(), "{flags:?}: {:?}", inspection.calls);
        let copy = inspection.functions.iter().find(|function| function.name.contains("copy_omp")).unwrap();
        assert_eq!((copy.kernel, copy.calls.as_slice()), (Some("Copy"), ["memcpy"].as_slice()), "{flags:?}");
        assert_eq!(inspection.is_static, flags.contains(&"-static"));
    }
}

#[test]
fn the_non_temporal_stores_of_a_static_libc_are_not_the_benchmarks() {
    let Some(bytes) = compiled(&source("PLAIN", LOOP_COPY), &["-static"]) else { return };
    let inspection = inspect(&bytes).unwrap();
    assert_eq!(inspection.nontemporal_count(), 0, "{:?}", inspection.functions);
}

#[test]
fn without_symbols_the_sums_remain() {
    let inspection = inspected(&source("PAST", CALL_COPY), &["-s"]);
    assert_eq!((inspection.nontemporal_count(), inspection.calls_memcpy()), (3, true), "{inspection:?}");
    assert!(inspection.is_stripped && inspection.arrays.is_empty());
    assert_eq!(inspection.array_bytes(), None);
}

#[test]
fn a_file_that_is_no_program_is_reported() {
    let message = |bytes: &[u8]| inspect(bytes).unwrap_err().to_string();
    assert_eq!(message(b""), "is empty");
    assert!(message(b"#!/bin/sh\nexec stream\n").contains("is no ELF file, but a script"));
    assert!(message(b"MZ\x90\x00").contains("is no ELF file"));
    assert!(message(b"\x7fELF").contains("is damaged"));
    let mut other = compiled("int main(void) { return 0; }", &[]).unwrap();
    other[18] = 243;
    assert!(message(&other).contains("is for RISC-V"));
    other[4] = 1;
    assert!(message(&other).contains("32-bit"));
    let object = compiled("int main(void) { return 0; }", &["-c"]).unwrap();
    assert!(message(&object).contains("an object file: link it first"), "{}", message(&object));
}

#[test]
fn unreadable_files_are_reported() {
    let message = |path: &str| file(Path::new(path)).unwrap_err().to_string();
    assert!(message("/nonexistent").contains("cannot be read"));
    assert_eq!(message("/"), "is no regular file");
    assert_eq!(message("/dev/zero"), "is no regular file");
    let directory = tempfile::tempdir().unwrap();
    let huge = directory.path().join("huge");
    std::fs::File::create(&huge).unwrap().set_len(LARGEST + 1).unwrap();
    assert!(message(huge.to_str().unwrap()).contains("no benchmark is larger"));
}

/// A program to damage; made once.
fn whole() -> &'static [u8] {
    static WHOLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    WHOLE.get_or_init(|| compiled(&source("PAST", CALL_COPY), &[]).expect("it compiles"))
}

proptest! {
    #[test]
    fn no_damage_makes_it_panic(
        cut in 0..100_000usize,
        changes in proptest::collection::vec((0..100_000usize, any::<u8>()), 0..40),
        header in proptest::collection::vec((0..1024usize, any::<u8>()), 0..8),
    ) {
        let mut bytes = whole().to_vec();
        let length = bytes.len();
        for (at, value) in changes.into_iter().chain(header) {
            bytes[at % length] = value;
        }
        bytes.truncate(length.saturating_sub(cut % length));
        let _ = inspect(&bytes);
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..4096), elf in any::<bool>()) {
        if elf && bytes.len() > 20 {
            bytes[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x00");
            bytes[16] = 2;
            bytes[18] = 62;
        }
        let _ = inspect(&bytes);
    }
}

#[test]
fn the_meaning_follows_the_code() {
    let meaning = |source: &str, flags: &[&str]| inspected(source, flags).meaning.join(" ");
    let gcc = meaning(&source("PLAIN", CALL_COPY), &[]);
    assert!(gcc.contains("Copy calls memcpy") && gcc.contains("Copy will be above Scale"), "{gcc}");
    let plain = meaning(&source("PLAIN", LOOP_COPY), &[]);
    assert!(plain.contains("Copy and Scale move 3/2 of what STREAM counts, Add and Triad 4/3"), "{plain}");
    assert!(!plain.contains("memcpy"), "{plain}");
    let icc = meaning(&source("PAST", STREAM_COPY), &[]);
    assert!(icc.contains("Copy, Scale, Add and Triad store past the cache"), "{icc}");
    let stripped = meaning(&source("PAST", STREAM_COPY), &["-s"]);
    assert!(stripped.contains("4 non-temporal stores, but its functions do not show"), "{stripped}");
    let call = meaning(&source("PLAIN", CALL_COPY), &["-s"]);
    assert!(call.contains("compilers make that call of Copy's loop"), "{call}");
    assert!(call.contains("one thread"), "{call}");
}

/// A file of x86-64 that has `code` at byte 64, and so many headers that each say: `bytes` of code from there
/// on, at this address.
fn overlapping(code: &[u8], address: u64, headers: u16, bytes: u64) -> Vec<u8> {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
    file.extend(words(&[0, 0, 128]));
    for half in [0, 0, 64, 56, 0, 64, headers + 2, headers + 1] {
        file.extend(half.to_le_bytes());
    }
    file.extend(code);
    file.resize(128, 0x90);
    // The first is empty; the others are SHT_PROGBITS with SHF_ALLOC and SHF_EXECINSTR; the last is
    // SHT_STRTAB with no names in it: the zeros of the program's entry.
    file.extend([0; 64]);
    file.extend(words(&[1 << 32, 6, address, 64, bytes, 0, 1, 0]).repeat(usize::from(headers)));
    file.extend(words(&[3 << 32, 0, 0, 24, 8, 0, 1, 0]));
    file
}

#[test]
fn code_is_read_once_however_many_headers_name_it() {
    let movntpd = [0x66, 0x0f, 0x2b, 0x07];
    let count = |headers| inspect(&overlapping(&movntpd, 0x1000, headers, 64)).unwrap().nontemporal_count();
    assert_eq!((count(1), count(2)), (1, 2), "two headers for 64 of 384 bytes");
    // 64 KB of headers, which are code by what each of them says.
    let file = overlapping(&movntpd, 0x1000, 1000, 60_000);
    assert_eq!(elf::Image::of(&file).unwrap().code.len(), 1);
}

#[test]
fn code_at_the_end_of_all_addresses_goes_around() {
    // `endbr64; jmp *0(%rip)`, with the jump at address 1.
    let code = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0];
    let file = overlapping(&code, u64::MAX - 2, 1, 64);
    let mut image = elf::Image::of(&file).unwrap();
    image.code[0].stubs = true;
    image.slots = (0..64).map(|address| (address, "memcpy")).collect();
    let mut tally = tally::Tally::new(&image.functions, image.is_static);
    x86::read(&image, &mut tally);
}
