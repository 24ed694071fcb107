//! The kernel's files on a process, which contain untrusted names: its mappings, its status, its accounting.

use std::os::unix::ffi::OsStrExt;

use lab::{maps, proc};

use crate::draw::Draw;
use crate::target::Target;

/// The first byte chooses the reader; the rest is the file.
pub const TARGET: Target = Target { name: "processes", one, seeds, longest: 4 << 10 };

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (choice, file) = (draw.byte() % 3, draw.rest());
    let text = String::from_utf8_lossy(file);
    match choice {
        0 => mapped(file),
        1 => {
            for name in ["Name", "VmHWM", "Tgid", ""] {
                let field = proc::field(&text, name);
                assert!(field.is_none_or(|field| text.contains(field) && !field.contains('\n')));
                assert!(proc::memory(&text, name).is_none_or(|bytes| bytes % 1024 == 0));
            }
        }
        _ => assert!(proc::fields_after_name(&text).all(|field| !field.contains([')', ' ']))),
    }
}

/// No mapping is lost, and each file is called what it was.
fn mapped(file: &[u8]) {
    let Ok(maps) = maps::parse(file) else { return };
    let lines = file.split_inclusive(|byte| *byte == b'\n');
    let lines: Vec<&[u8]> = lines.filter(|line| !line[0].is_ascii_uppercase()).collect();
    assert_eq!(maps.0.len(), lines.len());
    for (map, line) in maps.0.iter().zip(lines) {
        if let Some(path) = maps::file(map) {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            assert!(line.ends_with(path.as_os_str().as_bytes()), "{path:?}");
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let files: [(u8, &[u8]); 8] = [
        (0, b"5500000000-5500010000 r-xp 00001000 fe:00 11                 /usr/bin/sleep (deleted)\n7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0              [stack]\n"),
        (0, b"5500000000-5500010000 r-xp 00000000 fe:00 11                 /SYSVx\n5500010000-5500020000 r-xp 00000000 fe:00 12                 /SYSVnot-hexadecimal\n5500020000-5500030000 r-xp 00000000 fe:00 13                 /SYSV\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\n"),
        (0, b"7f0000000000-7f0000100000 rw-s 00000000 00:01 32768          /SYSV0000abcd (deleted)\n7f0000100000-7f0000200000 r-xp 00000000 fe:00 15             /tmp/\xff a b\n"),
        (0, b"7f0000200000-7f0000300000 rw-p 00000000 00:00 0              [anon:\xc3]\n7f0000300000-7f0000400000 rw-p 00000000 00:00 0              [stack:7]\n7f0000400000-7f0000500000 rw-p 00000000 00:00 0              [stack:\xc3\xa9]\n7f0000500000-7f0000600000 rw-p 00000000 00:00 0 \n"),
        (0, b"7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \nSize:               4096 kB\nRss:                4096 kB\nSwap:  18446744073709551615 kB\nTHPeligible:           1\nVmFlags: rd wr mr mw me ac\n"),
        (0, b"5581d1800000-7ffd5a3f3000 ---p 00000000 00:00 0                          [rollup]\nRss:               10240 kB\n"),
        (1, b"Name:\t\xc3\xa9\xc3\nState:\tS (sleeping)\nTgid:\t77\nVmHWM:\t    5324 kB\nCpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t1\n"),
        (2, b"77 (a) b \xc3) S 1 77 77 0 -1 4194560 5 0 0 0 3 4 0 0 20 0 5 0 100 4096 200\n"),
    ];
    files.into_iter().map(|(choice, file)| [&[choice], file].concat()).collect()
}
