//! What a test of UnixBench rests on apart from the machine: each case, and its twins.

use crate::explain_system::test;
use crate::relations_records::*;
use figure::evidence::*;
use figure::{Evidence, Record};
use serde_json::json;

const ID: &str = "system.any";

fn with(class: &str, put: impl FnOnce(&mut Evidence)) -> Record {
    let mut figure = test("any", class, 1.0, &six(100.0));
    put(&mut figure.evidence);
    record(vec![figure])
}

fn shell(collate: &str) -> Record {
    with("shell", |evidence| {
        evidence.put(SHELL, "/usr/bin/dash".to_owned());
        evidence.put(LOCALE_COLLATE, collate.to_owned());
    })
}

fn process() -> Record {
    with("process", |evidence| {
        evidence.put(CELL_BYTES, 51e3);
        evidence.put(CELL_LINKAGE, "dynamic".to_owned());
        evidence.put(CELL_LIBRARIES, 1.0);
    })
}

fn compute() -> Record {
    with("compute", |evidence| {
        evidence.put(LIBC, "glibc 2.36".to_owned());
        evidence.put(LIBC_STRCMP, "__strcmp_avx2".to_owned());
    })
}

#[test]
fn tests_rest_on_libraries_programs_and_locale() {
    for locale in ["C (there is no en_US.utf8)", "C.UTF-8"] {
        let values = json!({"locale": locale, "shell": "/usr/bin/dash"});
        case(&shell(locale), ID, "surroundings/bytewise-order", values);
    }
    no_case(&shell("en_US.utf8"), ID, "surroundings");
    let values = json!({"linkage": "dynamic", "size": 51e3, "libraries": 1});
    case(&process(), ID, "surroundings/program-image", values);
    let values = json!({"library": "glibc 2.36", "strcmp": "__strcmp_avx2"});
    case(&compute(), ID, "surroundings/c-library", values);
    let unknown = with("compute", |evidence| evidence.put_unknown(LIBC, "not read"));
    no_case(&unknown, ID, "surroundings");
}

/// Judged records in which each case of the surroundings arises.
pub fn situations() -> Vec<Record> {
    [shell("C"), process(), compute()].map(crate::cores::judged).to_vec()
}
