//! What a compiler or libc makes of a kernel: each sentence, and the twin on which it must change.

use crate::explain::two_threads;
use crate::relations_records::*;

#[test]
fn why_a_compilers_copy_is_above_its_scale() {
    let mut record = two_threads();
    says(
        &record,
        "memory.copy.libc",
        &[
            "Libc's memcpy pays no write-allocate at this size (non-temporal stores or rep movsb)",
            "Copy far above Scale (memory.scale.compiler: 17.8 GB/s)",
        ],
    );
    says(&record, "memory.copy.compiler", &["has become a call of memcpy (memory.copy.libc: 29.9 GB/s)"]);
    says(
        &record,
        "memory.triad.compiler",
        &[
            "The compiler's plain loop stores regularly and pays the write-allocate",
            "memory.triad.regular (20.2 GB/s)",
        ],
    );
    set(&mut record, "memory.triad.compiler", 17.0);
    says(&record, "memory.triad.compiler", &["stores regularly and is 16 % below memory.triad.regular"]);
    set(&mut record, "memory.copy.libc", 36.0);
    says(
        &record,
        "memory.copy.libc",
        &["beats memory.copy.nt (30.0 GB/s), whose loop is then the limit, not memory"],
    );

    set(&mut record, "memory.copy.libc", 18.2);
    says(&record, "memory.copy.libc", &["stores regularly"]);
    silent(&record, "memory.copy.compiler", &["memcpy ("]);
    set(&mut record, "memory.copy.libc", 23.0);
    says(
        &record,
        "memory.copy.libc",
        &["a part of the write-allocate", "between memory.copy.regular (18.0 GB/s)"],
    );
    set(&mut record, "memory.copy.nt", 19.0);
    says(&record, "memory.copy.libc", &["cannot be told"]);
}

#[test]
fn copy_above_scale_is_told_only_where_it_is() {
    let mut record = two_threads();
    set(&mut record, "memory.scale.compiler", 29.0);
    silent(&record, "memory.copy.libc", &["Copy far above Scale"]);
}
