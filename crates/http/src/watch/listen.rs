//! Length and limit of the server's accept queue, from sock_diag(7): what `ss -ltn` shows as Recv-Q and
//! Send-Q.
//!
//! Not netlink-packet-sock-diag: it would add five packages and save about 20 lines.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use figure::{Reading, Unit};
use machine::Tree;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use super::sample::Sample;

/// Bytes of one message. The kernel fills at most 32 KiB (netlink(7)).
const ANSWER: usize = 32 * 1024;
/// Most messages of a dump. Each holds about a hundred sockets, and a port has one per listening thread.
const MAX_MESSAGES: u32 = 64;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

// linux/netlink.h, linux/sock_diag.h, net/tcp_states.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const REQUEST_DUMP: u16 = 0x301;
const LISTEN: u8 = 10;
/// Sizes of struct nlmsghdr, inet_diag_req_v2 and inet_diag_msg (linux/inet_diag.h).
const HEADER: usize = 16;
const REQUEST: usize = 56;
const MESSAGE: usize = 72;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    address: SocketAddr,
    queue: u32,
    /// Argument of listen(2), bounded by net.core.somaxconn. One more connection fits.
    backlog: u32,
    /// Inode: /proc/PID/fd shows it as `socket:[N]`.
    inode: u32,
}

/// Queue and limit, summed over all sockets that serve an address: a server may have one per thread
/// (SO_REUSEPORT). `process` is in the network namespace that counts; sockets of another namespace than this
/// process's are not visible.
pub fn read(tree: &Tree, process: Option<u32>, address: SocketAddr) -> [Sample; 2] {
    let listeners = listeners(tree, process, address);
    let sum = |number: fn(&Listener) -> u32| {
        listeners.clone().map(|list| list.iter().map(|listener| f64::from(number(listener))).sum())
    };
    [
        Sample::level("sockets.listen.queue", Unit::ONE, sum(|listener| listener.queue)),
        Sample::level("sockets.listen.backlog", Unit::ONE, sum(|listener| listener.backlog)),
    ]
}

/// Inodes of the sockets that serve an address; empty if unknown.
pub fn inodes(tree: &Tree, process: Option<u32>, address: SocketAddr) -> Vec<u32> {
    let listeners = listeners(tree, process, address).into_value().unwrap_or_default();
    listeners.into_iter().map(|listener| listener.inode).collect()
}

fn listeners(tree: &Tree, process: Option<u32>, address: SocketAddr) -> Reading<Vec<Listener>> {
    if !tree.is_live() {
        return Reading::unknown("sock_diag describes only the running machine");
    }
    if let Some(process) = process.filter(|process| is_elsewhere(tree, *process)) {
        return Reading::Unknown(format!("process {process} has its own network namespace"));
    }
    // An IPv6 socket may serve IPv4 too; Go's do.
    let families = if address.is_ipv4() { &[libc::AF_INET, libc::AF_INET6][..] } else { &[libc::AF_INET6] };
    let listeners: io::Result<Vec<_>> =
        families.iter().map(|family| dump(*family as u8, address.port())).collect();
    match listeners.map(|listeners| serving(&listeners.concat(), address)) {
        Ok(serving) if serving.is_empty() => {
            Reading::Unknown(format!("no process listens at {address} here"))
        }
        Ok(serving) => Reading::Value(serving),
        Err(error) => Reading::Unknown(format!("sock_diag: {error}")),
    }
}

/// Whether a process is known to be in another network namespace (namespaces(7)).
fn is_elsewhere(tree: &Tree, process: u32) -> bool {
    let namespace = |process: &str| std::fs::read_link(tree.path(format!("/proc/{process}/ns/net"))).ok();
    namespace(&process.to_string()).zip(namespace("self")).is_some_and(|(left, right)| left != right)
}

/// The sockets that get connections to an address: the kernel prefers the most specific one.
fn serving(listeners: &[Listener], address: SocketAddr) -> Vec<Listener> {
    let distance = |listener: &Listener| match listener.address.ip() {
        ip if ip == address.ip() => Some(0),
        IpAddr::V6(ip) if ip.to_ipv4_mapped().map(IpAddr::V4) == Some(address.ip()) => Some(0),
        ip if ip.is_unspecified() && ip.is_ipv4() == address.is_ipv4() => Some(1),
        ip if ip.is_unspecified() && ip.is_ipv6() => Some(2),
        _ => None,
    };
    let at_port = || listeners.iter().filter(|listener| listener.address.port() == address.port());
    let Some(nearest) = at_port().filter_map(distance).min() else { return Vec::new() };
    at_port().filter(|listener| distance(listener) == Some(nearest)).copied().collect()
}

fn dump(family: u8, port: u16) -> io::Result<Vec<Listener>> {
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    send(&socket, &request(family, port), SendFlags::empty())?;
    let (mut listeners, mut buffer) = (Vec::new(), vec![0; ANSWER]);
    for _ in 0..MAX_MESSAGES {
        let (_, filled) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        if parse_answer(&buffer[..filled.min(ANSWER)], &mut listeners)? {
            return Ok(listeners);
        }
    }
    Err(io::Error::other("more sockets than are read"))
}

fn request(family: u8, port: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + REQUEST);
    bytes.extend(((HEADER + REQUEST) as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    // Sequence number and port id: not needed for a single request.
    bytes.extend([0; 8]);
    bytes.extend([family, libc::IPPROTO_TCP as u8, 0, 0]);
    bytes.extend((1u32 << LISTEN).to_ne_bytes());
    bytes.extend(port.to_be_bytes());
    bytes.resize(HEADER + REQUEST, 0);
    bytes
}

/// Adds the sockets of a message; true if it was the last.
pub fn parse_answer(mut answer: &[u8], listeners: &mut Vec<Listener>) -> io::Result<bool> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "an answer that is not whole");
    while !answer.is_empty() {
        let length = number(answer, 0).ok_or_else(damaged)? as usize;
        let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
        let body = answer.get(HEADER..length).ok_or_else(damaged)?;
        match kind {
            Some(SOCK_DIAG_BY_FAMILY) => listeners.extend(listener(body).ok_or_else(damaged)?),
            Some(NLMSG_ERROR | NLMSG_DONE) => {
                // A negative errno.
                let code = number(body, 0).map_or(0, |code| code as i32);
                return if code == 0 {
                    Ok(true)
                } else {
                    Err(io::Error::from_raw_os_error(code.saturating_neg()))
                };
            }
            _ => {}
        }
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Parses struct inet_diag_msg. `Some(None)`: another kind of socket; `None`: incomplete.
fn listener(message: &[u8]) -> Option<Option<Listener>> {
    let message = message.get(..MESSAGE)?;
    let (family, state) = (i32::from(message[0]), message[1]);
    let ip: IpAddr = match family {
        libc::AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(&message[8..12]).ok()?).into(),
        libc::AF_INET6 => Ipv6Addr::from(<[u8; 16]>::try_from(&message[8..24]).ok()?).into(),
        _ => return Some(None),
    };
    let address = SocketAddr::new(ip, u16::from_be_bytes([message[4], message[5]]));
    let (queue, backlog, inode) = (number(message, 56)?, number(message, 60)?, number(message, 68)?);
    Some((state == LISTEN).then_some(Listener { address, queue, backlog, inode }))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod unit {
    use super::super::sample::value;
    use super::super::tests::tree;
    use super::*;
    use std::net::{TcpListener, TcpStream};

    /// A socket at 127.0.0.1:40725 with a queue of 1 and a backlog of 7, from Linux 6.18 (little-endian), and
    /// the end of the dump.
    fn captured() -> Vec<u8> {
        let mut bytes = Vec::from([124, 0, 0, 0, 20, 0, 2, 0, 0, 0, 0, 0, 0xe7, 0x23, 0, 0]);
        bytes.extend([2, LISTEN, 0, 0, 0x9f, 0x15, 0, 0, 127, 0, 0, 1]);
        bytes.resize(HEADER + 56, 0);
        bytes.extend([1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0x05, 0x26, 0x08, 0]);
        // Attributes, which are ignored.
        bytes.resize(124, 0);
        bytes.extend([20, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0xe7, 0x23, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    fn at(address: &str) -> Listener {
        Listener { address: address.parse().unwrap(), queue: 1, backlog: 7, inode: 0x08_26_05 }
    }

    #[test]
    fn a_captured_answer() {
        let mut listeners = Vec::new();
        assert!(parse_answer(&captured(), &mut listeners).unwrap());
        assert_eq!(listeners, [at("127.0.0.1:40725")]);
        let mut other = captured();
        other[HEADER + 1] = 1;
        listeners.clear();
        assert!(parse_answer(&other[..124], &mut listeners).is_ok_and(|is_last| !is_last));
        assert!(listeners.is_empty());
    }

    #[test]
    fn damaged_messages_are_errors() {
        let whole = captured();
        for end in 1..whole.len() {
            let cut = parse_answer(&whole[..end], &mut Vec::new());
            assert!(cut.is_err() || (end == 124 && !cut.unwrap()), "{end}");
        }
        for length in [0, 1, 15, 80, 5000, u32::MAX] {
            let mut bytes = whole.clone();
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            assert!(parse_answer(&bytes, &mut Vec::new()).is_err(), "{length}");
        }
        let mut refused = whole[124..].to_vec();
        refused[4] = NLMSG_ERROR as u8;
        refused[HEADER..].copy_from_slice(&(-libc::ENOENT).to_ne_bytes());
        let error = parse_answer(&refused, &mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn the_nearest_listener_serves() {
        let listeners =
            [at("0.0.0.0:80"), at("127.0.0.1:80"), at("[::]:80"), at("127.0.0.1:81"), at("127.0.0.2:82")];
        let nearest = |listeners: &[Listener], address: &str| serving(listeners, address.parse().unwrap());
        assert_eq!(nearest(&listeners, "127.0.0.1:80"), [listeners[1]]);
        assert_eq!(nearest(&listeners, "10.0.0.1:80"), [listeners[0]]);
        assert_eq!(nearest(&listeners[2..], "10.0.0.1:80"), [listeners[2]]);
        assert_eq!(nearest(&listeners, "[::1]:80"), [listeners[2]]);
        assert_eq!(nearest(&listeners, "127.0.0.1:82"), []);
        let mapped = [at("[::]:80"), at("[::ffff:127.0.0.1]:80")];
        assert_eq!(nearest(&mapped, "127.0.0.1:80"), [mapped[1]]);
    }

    #[test]
    fn waiting_connections_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let read_live = || read(&Tree::live(), Some(std::process::id()), address);
        let queue = |samples: &[Sample]| value(samples, "sockets.listen.queue");
        let first = read_live();
        if let Some(reason) = queue(&first).reason() {
            // A sandbox forbids it, or the kernel has no tcp_diag.
            assert!(reason.starts_with("sock_diag:"), "{reason}");
            return;
        }
        assert_eq!(queue(&first), Reading::Value(0.0));
        let _waiting = [TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap()];
        assert_eq!(queue(&read_live()), Reading::Value(2.0));
        drop(listener.accept().unwrap());
        assert_eq!(queue(&read_live()), Reading::Value(1.0));
        // The standard library passes 128, or -1 for the system's maximum.
        assert!(*value(&read_live(), "sockets.listen.backlog").value().unwrap() >= 5.0);
        drop(listener);
        let closed = queue(&read_live());
        assert_eq!(closed.reason(), Some(format!("no process listens at {address} here").as_str()));
    }

    #[test]
    fn another_network_namespace_is_another_place() {
        let (root, tree) = tree(&[]);
        for (process, namespace) in [("self", "net:[1]"), ("7", "net:[1]"), ("8", "net:[2]")] {
            let directory = root.path().join("proc").join(process).join("ns");
            std::fs::create_dir_all(&directory).unwrap();
            std::os::unix::fs::symlink(namespace, directory.join("net")).unwrap();
        }
        assert_eq!([7, 8, 9].map(|process| is_elsewhere(&tree, process)), [false, true, false]);
    }

    #[test]
    fn a_captured_machine_has_none() {
        let (_root, tree) = tree(&[]);
        let samples = read(&tree, None, "127.0.0.1:80".parse().unwrap());
        assert_eq!(samples[1].value.reason(), Some("sock_diag describes only the running machine"));
    }
}
