//! Patterns of Go function names.

/// Whether a name matches a pattern.
///
/// - `runtime.schedule`: this function, and closures in it (`runtime.schedule.func1`).
/// - `runtime.gcDrain*`: every name with this prefix.
/// - `*/fasthttp.(*Request).*`: a package of this name in any path. A version at the end of the path is part
///   of the package: `*/gnet/v2.`.
///
/// Other stars are Go's pointer receivers.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (anywhere, pattern) = match pattern.strip_prefix("*/") {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (open, pattern) = match pattern.strip_suffix('*') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let is_match = |name: &str| match name.strip_prefix(pattern) {
        Some(rest) => open || rest.is_empty() || rest.starts_with('.'),
        None => false,
    };
    is_match(name) || (anywhere && name.match_indices('/').any(|(slash, _)| is_match(&name[slash + 1..])))
}

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
