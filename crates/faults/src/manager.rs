//! Who manages a program's memory: by the libraries that it has mapped. Pure.

use figure::faults::Manager;

use crate::trace::tasks::Program;

/// What the name of a library begins with, whose it is. An allocator that is loaded stands before the C library, which always is.
const LIBRARIES: &[(&str, Manager)] = &[
    ("libjemalloc", Manager::Jemalloc),
    ("libmimalloc", Manager::Mimalloc),
    ("libtcmalloc_truebench", Manager::GoogleTcmalloc),
    ("libtcmalloc", Manager::Tcmalloc),
    ("libtbbmalloc", Manager::Tbbmalloc),
    ("libclang_rt.scudo", Manager::Scudo),
    ("libscudo", Manager::Scudo),
    ("libhoard", Manager::Hoard),
    ("libsnmalloc", Manager::Snmalloc),
    ("librpmalloc", Manager::Rpmalloc),
    ("libjvm.so", Manager::Jvm),
    ("libc.so", Manager::Glibc),
    ("libc-2.", Manager::Glibc),
    ("ld-musl", Manager::Musl),
    ("libc.musl", Manager::Musl),
];

/// Of a program that was watched.
pub fn of(program: &Program) -> Option<Manager> {
    by_libraries(program.code.iter().map(|name| &**name))
}

/// By the files that are mapped as code; `None` where no library is known to manage memory.
pub fn by_libraries<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<Manager> {
    let rank = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        LIBRARIES.iter().position(|(begin, _)| name.starts_with(begin))
    };
    let best = files.into_iter().filter_map(rank).min()?;
    LIBRARIES.get(best).map(|(_, manager)| *manager)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn an_allocator_comes_before_the_c_library() {
        let plain = [
            "/usr/bin/sort",
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
        ];
        assert_eq!(by_libraries(plain), Some(Manager::Glibc));
        let with = plain.into_iter().chain(["/opt/libjemalloc.so.2"]);
        assert_eq!(by_libraries(with), Some(Manager::Jemalloc));
        assert_eq!(by_libraries(["/lib/ld-musl-x86_64.so.1", "/bin/a"]), Some(Manager::Musl));
        assert_eq!(by_libraries(["/usr/bin/static"]), None);
    }
}
