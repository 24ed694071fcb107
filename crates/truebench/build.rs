//! Leaves the tables for unwinding out of the release binary: it aborts on panic, and its frames have no names.

use std::path::Path;

/// A script with INSERT adds to the linker's own (ld(1), lld).
const SCRIPT: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let directory = std::env::var_os("OUT_DIR").expect("cargo sets it");
        let file = Path::new(&directory).join("no-unwinding.ld");
        std::fs::write(&file, SCRIPT).expect("cargo's own directory can be written");
        println!("cargo::rustc-link-arg-bin=truebench=-Wl,-T,{}", file.display());
    }
}
