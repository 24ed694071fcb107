//! Names of Go functions, and patterns of them.

/// Whether a name falls under a pattern.
///
/// - `runtime.schedule` is that function, and closures in it: `runtime.schedule.func1`.
/// - `runtime.gcDrain*` is every name that begins so.
/// - `*/fasthttp.(*Request).*` is the same in whatever path a package of this name is, its own root included. A version at the end of
///   the path belongs to the package: `*/gnet/v2.`.
///
/// Stars elsewhere are Go's own, of methods on a pointer.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (anywhere, pattern) = match pattern.strip_prefix("*/") {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (open, pattern) = match pattern.strip_suffix('*') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let here = |name: &str| match name.strip_prefix(pattern) {
        Some(rest) => open || rest.is_empty() || rest.starts_with('.'),
        None => false,
    };
    here(name) || (anywhere && name.match_indices('/').any(|(slash, _)| here(&name[slash + 1..])))
}

/// Whether a name falls under any of these.
pub fn any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_function_is_itself_and_its_closures() {
        assert!(matches("runtime.newproc", "runtime.newproc"));
        assert!(matches("runtime.newproc", "runtime.newproc.func1"));
        assert!(!matches("runtime.newproc", "runtime.newproc1"));
        assert!(matches("runtime.newproc*", "runtime.newproc1"));
        assert!(!matches("runtime.netpoll", "runtime.netpollBreak"));
        assert!(!matches("runtime.netpoll", "internal/runtime.netpoll"));
        assert!(!matches("runtime.netpoll", ""));
    }

    #[test]
    fn packages_are_found_in_any_path() {
        let pattern = "*/fasthttp.(*RequestHeader).*";
        assert!(matches(pattern, "github.com/valyala/fasthttp.(*RequestHeader).tryRead"));
        assert!(matches(pattern, "fasthttp.(*RequestHeader).tryRead"));
        assert!(!matches(pattern, "github.com/valyala/fasthttp.(*ResponseHeader).Write"));
        assert!(!matches(pattern, "example.org/myfasthttp.(*RequestHeader).tryRead"));
        assert!(matches("*/gnet/v2.*", "github.com/panjf2000/gnet/v2.(*eventloop).orbit.func1"));
        assert!(matches("*/unix.EpollWait", "golang.org/x/sys/unix.EpollWait"));
    }
}
