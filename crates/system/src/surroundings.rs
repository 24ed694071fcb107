//! Records what affects the figures in addition to the machine: the C library, the helper program, the file system,
//! shell and tools, and the locale. Settings of the kernel (mitigations, sched_ext, autogroup) are in the
//! machine's description.

mod locale;
pub mod tools;

use std::path::Path;

use figure::evidence::*;
use figure::{CpuList, Evidence, Reading};
use lab::image::Image;

/// The C library, and the program that runs the tests.
pub fn of_helper(helper: &Path) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.put(LIBC, libc());
    evidence.put_reading(LIBC_STRCMP, strcmp());
    let image =
        lab::image::read(helper).map_or_else(|failure| Reading::unknown(failure.to_string()), Reading::Value);
    let linkage = |is_dynamic| if is_dynamic { "dynamic" } else { "static" }.to_owned();
    evidence.put_reading(CELL_BYTES, image.clone().map(|image| image.bytes as f64));
    evidence.put_reading(CELL_LINKAGE, image.clone().map(|image| linkage(image.is_dynamic)));
    let glibc = |image: Image| image.glibc.map(|(major, minor)| format!("{major}.{minor}"));
    let glibc = image
        .clone()
        .and_then(|image| Reading::or_unknown(glibc(image), "it needs no version of glibc's symbols"));
    evidence.put_reading(CELL_GLIBC, glibc);
    evidence.put_reading(CELL_LIBRARIES, image.map(|image| image.libraries.len() as f64));
    evidence
}

/// The shell, the programs of the scripts, and their effective locale with this LANG.
pub fn of_shell(cpus: &CpuList, language: &str) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.put_reading(SHELL, tools::shell(cpus));
    evidence.put_reading(SHELL_TOOLS, tools::tools(cpus));
    let locale = locale::effective(language);
    evidence.put(LOCALE_COLLATE, locale.collate);
    evidence.put_reading(
        LOCALE_CHARMAP,
        Reading::or_unknown(locale.charmap, "nl_langinfo(CODESET) gave nothing"),
    );
    evidence
}

/// `glibc 2.36`, or `musl`, which does not report its version. The helper is built for the same one.
fn libc() -> String {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: a constant string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("glibc {}", version.to_string_lossy())
    }
    #[cfg(not(target_env = "gnu"))]
    {
        if cfg!(target_env = "musl") { "musl" } else { "neither glibc nor musl" }.to_owned()
    }
}

/// The strcmp that the dynamic linker chose for this CPU, in this process and in the helper:
/// `libc.so.6+0x15a3c0`.
fn strcmp() -> Reading<String> {
    // `strcmp as usize` would be an entry of this program's table. dlsym returns the chosen function.
    // SAFETY: a constant name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"strcmp".as_ptr()) };
    // SAFETY: all fields may be zero.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is a local variable.
    if address.is_null() || unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return Reading::unknown("dladdr does not know strcmp");
    }
    // SAFETY: a string of the dynamic linker, which is valid while the library is loaded.
    let file = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) }.to_string_lossy();
    let offset = (address as usize).wrapping_sub(info.dli_fbase as usize);
    Reading::Value(format!("{}+{offset:#x}", file.rsplit('/').next().unwrap_or_default()))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let program = std::env::current_exe().unwrap();
        let helper = of_helper(&program);
        assert!(helper.get(LIBC).into_value().is_some_and(|libc| libc.contains("libc") || libc == "musl"));
        let glibc = helper.get(CELL_GLIBC).into_value();
        assert_eq!(
            glibc.is_some_and(|version| version.starts_with("2.")),
            cfg!(target_env = "gnu"),
            "{helper:?}"
        );
        assert!(helper.get(LIBC_STRCMP).into_value().is_none_or(|at| at.contains("+0x")), "{helper:?}");
        assert_eq!(
            helper.get(CELL_BYTES).into_value(),
            Some(std::fs::metadata(&program).unwrap().len() as f64)
        );
        let place = lab::mount::evidence(Path::new("/proc"));
        assert_eq!(place.get(FS_TYPE).into_value().as_deref(), Some("proc"));
        let missing = lab::mount::evidence(Path::new("/nonexistent"));
        assert!(missing.get(FS_TYPE).reason().is_some_and(|reason| reason.contains("/nonexistent")));
        let shell = of_shell(&lab::affinity::get().unwrap(), "C");
        assert!(shell.get(SHELL).into_value().is_some_and(|shell| shell.starts_with('/')));
        assert!(shell.get(SHELL_TOOLS).into_value().is_some_and(|tools| tools.contains("sort")));
    }
}
