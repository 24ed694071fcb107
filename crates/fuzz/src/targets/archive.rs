//! Captured machines from others: an archive, unpacked.

use std::fs;
use std::path::Path;

use machine::capture::{capture, unpack};
use machine::{Tree, synthetic};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::machine::{directory, hold};
use crate::draw::Draw;
use crate::target::Target;

/// The first byte: the bytes are an archive, or a tar stream that is yet to be compressed.
pub const TARGET: Target = Target { name: "archive", one, seeds, longest: 16 << 10 };

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (is_tar, bytes) = (draw.flag(), draw.rest());
    let outside = directory();
    let (archive, into) = (outside.path().join("archive"), outside.path().join("into"));
    let packed = if is_tar { compress_to_vec(bytes, CompressionLevel::Fastest) } else { bytes.to_vec() };
    fs::write(&archive, packed).expect("a file");
    match unpack(&archive, &into) {
        Ok(files) => {
            assert_eq!(count(&into), files);
            hold(&Tree::at(&into));
        }
        Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
    }
    let beside = fs::read_dir(outside.path()).expect("a directory").count();
    assert!(beside <= 2, "{beside} files: something was written outside");
}

/// Regular files; there is nothing else but directories.
fn count(directory: &Path) -> usize {
    let of = |entry: fs::DirEntry| {
        let kind = entry.file_type().expect("a type");
        assert!(kind.is_dir() || kind.is_file(), "{:?}", entry.path());
        if kind.is_dir() { count(&entry.path()) } else { 1 }
    };
    fs::read_dir(directory).into_iter().flatten().flatten().map(of).sum()
}

fn seeds() -> Vec<Vec<u8>> {
    let place = directory();
    let (root, file) = (place.path().join("tree"), place.path().join("archive"));
    synthetic::gvisor_no_caches(&root).expect("a tree");
    capture(&Tree::at(&root), &file).expect("an archive");
    let packed = fs::read(&file).expect("an archive");
    let mut small = tar::Builder::new(Vec::new());
    for (name, text) in
        [("proc/cpuinfo", "processor\t: 0\nmodel name\t: x\n"), ("proc/meminfo", "MemTotal: 8 kB\n")]
    {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        small.append_data(&mut header, name, text.as_bytes()).expect("memory");
    }
    let small = small.into_inner().expect("memory");
    let small_packed = compress_to_vec(small.as_slice(), CompressionLevel::Fastest);
    vec![
        [&[0], packed.as_slice()].concat(),
        [&[0], small_packed.as_slice()].concat(),
        [&[1], small.as_slice()].concat(),
    ]
}
