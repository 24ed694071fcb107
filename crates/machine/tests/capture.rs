//! Capturing and unpacking: the description stays the same, secrets are not captured, hostile archives do no
//! harm.

use std::fs;
use std::path::{Path, PathBuf};

use machine::capture::{CaptureError, capture, unpack};
use machine::{Overrides, Tree, describe, synthetic};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

use crate::common;

fn there_and_back(tree: &Tree, directory: &Path) -> PathBuf {
    let (archive, root) = (directory.join("machine.tar.zst"), directory.join("unpacked"));
    let summary = capture(tree, &archive).unwrap();
    assert_eq!(summary.archive_bytes, fs::metadata(&archive).unwrap().len());
    assert_eq!(unpack(&archive, &root).unwrap(), summary.files);
    root
}

#[test]
fn every_synthetic_machine_survives_exactly() {
    for (name, write) in synthetic::ALL {
        let directory = common::directory();
        let root = directory.path().join(name);
        write(&root).unwrap();
        let tree = Tree::at(&root);
        let again = there_and_back(&tree, directory.path());
        assert_eq!(
            describe(&Tree::at(again), &Overrides::default()),
            describe(&tree, &Overrides::default()),
            "{name}"
        );
    }
}

/// The description as JSON without changing values, values of CPUID, values that are not captured, and
/// reasons.
fn lasting(tree: &Tree) -> Value {
    let mut json = serde_json::to_value(describe(tree, &Overrides::default())).unwrap();
    for path in ["/hostname", "/memory/available", "/virtualisation", "/caches/unknown"] {
        *json.pointer_mut(path).unwrap() = Value::Null;
    }
    // Only the running machine shows which system calls are refused.
    json.as_object_mut().unwrap().remove("hidden");
    for node in json["numa"]["nodes"].as_array_mut().unwrap() {
        node["available"] = Value::Null;
    }
    for level in json["cgroup"]["levels"].as_array_mut().unwrap() {
        level["memory_used"] = Value::Null;
        level["tasks"] = Value::Null;
    }
    silence(&mut json);
    json
}

fn silence(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            if let Some(reason) = fields.get_mut("unknown").filter(|reason| reason.is_string()) {
                *reason = Value::Null;
            }
            fields.values_mut().for_each(silence);
        }
        Value::Array(items) => items.iter_mut().for_each(silence),
        _ => {}
    }
}

#[test]
fn this_machine_survives() {
    let directory = common::directory();
    let again = there_and_back(&Tree::live(), directory.path());
    assert_eq!(lasting(&Tree::at(again)), lasting(&Tree::live()));
}

#[test]
fn secrets_stay_behind() {
    let directory = common::directory();
    let root = directory.path().join("tree");
    synthetic::two_socket_smt_server(&root).unwrap();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("proc/cmdline", "quiet ks.password=HUSH nosmt");
    write("proc/1/environ", "TOKEN=HUSH");
    write("proc/self/environ", "TOKEN=HUSH");
    write("proc/self/cmdline", "HUSH");
    write("proc/self/status", "Name:\tHUSH\nCpus_allowed_list:\t0-95\n");
    write("proc/sys/kernel/hostname", "HUSH");
    write("sys/class/dmi/id/product_serial", "HUSH");
    write(
        "proc/self/mountinfo",
        "9 1 0:9 / /home/HUSH rw - nfs server:/HUSH rw\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n",
    );
    let again = there_and_back(&Tree::at(&root), directory.path());
    let mut captured = Vec::new();
    read_all(&again, &mut captured);
    for secret in ["HUSH", "SERIAL", "ASSET-TAG"] {
        let is_captured = captured.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_captured, "{secret} was captured");
    }
    let machine = describe(&Tree::at(again), &Overrides::default());
    assert_eq!(machine.kernel.command_line.value().unwrap(), "nosmt");
    assert_eq!(machine.memory.modules.value().unwrap().len(), 12);
}

fn read_all(directory: &Path, into: &mut Vec<u8>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            read_all(&entry.path(), into);
        } else {
            into.extend(fs::read(entry.path()).unwrap());
        }
    }
}

/// A hostile archive of these entries: (name in the header, type, content).
fn hostile(entries: &[(&[u8], tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        // Bypasses set_path, which refuses such names.
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o4777);
        if *kind == tar::EntryType::Symlink {
            header.set_link_name("/tmp").unwrap();
        }
        header.set_cksum();
        archive.append(&header, *content).unwrap();
    }
    compress_to_vec(archive.into_inner().unwrap().as_slice(), CompressionLevel::Fastest)
}

fn refused(archive: &[u8]) -> String {
    let directory = common::directory();
    let (file, root) = (directory.path().join("a.tar.zst"), directory.path().join("in/side"));
    fs::write(&file, archive).unwrap();
    let error = unpack(&file, &root).unwrap_err();
    let mut beside: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    beside.sort();
    assert_eq!(beside, ["a.tar.zst", "in"], "something was written outside");
    error.to_string()
}

#[test]
fn hostile_archives_are_refused() {
    use tar::EntryType as Kind;
    for name in ["../evil", "proc/../../evil", "/tmp/evil", "./x/../../../evil"] {
        let error = refused(&hostile(&[(name.as_bytes(), Kind::Regular, b"x")]));
        assert!(error.contains("no plain relative path"), "{error}");
    }
    for kind in [Kind::Symlink, Kind::Link, Kind::Fifo, Kind::Char, Kind::Directory] {
        let error = refused(&hostile(&[(b"proc", kind, b""), (b"proc/x", Kind::Regular, b"x")]));
        assert!(error.contains("'proc' is no regular file"), "{error}");
    }
    let twice = refused(&hostile(&[(b"proc/x", Kind::Regular, b"1"), (b"proc/x", Kind::Regular, b"2")]));
    assert!(twice.contains("exists"), "{twice}");
    let nested = refused(&hostile(&[(b"proc", Kind::Regular, b"1"), (b"proc/x", Kind::Regular, b"2")]));
    assert!(nested.contains("cannot create"), "{nested}");
    assert!(refused(b"not an archive at all").contains("is no captured machine"));
    assert!(refused(&hostile(&[])).contains("it is empty"));
}

#[test]
fn bombs_are_refused() {
    let large = vec![0; (16 << 20) + 1];
    assert!(refused(&hostile(&[(b"proc/x", tar::EntryType::Regular, &large)])).starts_with("too large"));
    // A name of 20 MB, as the extension for long names would have it.
    let error = refused(&hostile(&[(b"././@LongLink", tar::EntryType::GNULongName, &large)]));
    assert!(error.contains("is no captured machine"), "{error}");
}

#[test]
fn an_archive_without_end_is_refused() {
    // Many files, each small enough, of zeros that compress to nothing.
    let zeros = vec![0; 16 << 20];
    let names: Vec<String> = (0..17).map(|n| format!("proc/{n}")).collect();
    let entries: Vec<(&[u8], tar::EntryType, &[u8])> =
        names.iter().map(|name| (name.as_bytes(), tar::EntryType::Regular, zeros.as_slice())).collect();
    let archive = hostile(&entries);
    assert!(archive.len() < 1 << 20);
    assert!(refused(&archive).contains("too large"));
}

#[test]
fn a_cut_archive_is_not_taken_for_a_whole_one() {
    let directory = common::directory();
    let (root, archive) = (directory.path().join("tree"), directory.path().join("a.tar.zst"));
    synthetic::microvm_2cpu(&root).unwrap();
    capture(&Tree::at(&root), &archive).unwrap();
    let whole = fs::read(&archive).unwrap();
    for length in [0, 3, 20, whole.len() / 2, whole.len() - 5] {
        fs::write(&archive, &whole[..length]).unwrap();
        let into = directory.path().join(format!("cut{length}"));
        assert!(
            matches!(unpack(&archive, &into), Err(CaptureError::Foreign { .. })),
            "{length} of {}",
            whole.len()
        );
    }
}

#[test]
fn failures_are_reported() {
    let directory = common::directory();
    let empty = capture(&Tree::at(directory.path()), &directory.path().join("out")).unwrap_err();
    assert!(empty.to_string().contains("it should have proc and sys in it"), "{empty}");
    let root = directory.path().join("tree");
    synthetic::microvm_2cpu(&root).unwrap();
    let nowhere = capture(&Tree::at(&root), &directory.path().join("no/such/place")).unwrap_err();
    assert!(nowhere.to_string().starts_with("cannot write "), "{nowhere}");
    let archive = directory.path().join("a.tar.zst");
    capture(&Tree::at(&root), &archive).unwrap();
    let into = unpack(&archive, &root).unwrap_err();
    assert!(into.to_string().contains("not empty"), "{into}");
}
