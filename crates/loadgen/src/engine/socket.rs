use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, bind, connect, sendmsg,
    socket_with, sockopt,
};

use crate::record::Failure;

/// A socket for connections to `target`, with TCP_NODELAY, from `source` if one is given.
pub fn open(target: SocketAddr, source: Option<IpAddr>, flags: SocketFlags) -> io::Result<OwnedFd> {
    let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, flags | SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source {
        leave_port_to_connect(&socket)?;
        bind(&socket, &SocketAddr::new(source, 0))?;
    }
    Ok(socket)
}

/// Begins a connection; true if it is made already.
pub fn begin(socket: &OwnedFd, target: SocketAddr) -> Result<bool, Failure> {
    match connect(socket, &target) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::INPROGRESS) => Ok(false),
        Err(error) => Err(failure(&error.into())),
    }
}

/// Sends bytes without blocking; returns their number.
pub fn write(socket: &OwnedFd, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(rustix::io::retry_on_intr(|| sendmsg(socket, pieces, &mut SendAncillaryBuffer::default(), flags))?)
}

pub fn failure(error: &io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED) => Failure::Refused,
        Some(libc::ETIMEDOUT) => Failure::ConnectTimeout,
        Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE) => Failure::NoPort,
        _ => Failure::Connect,
    }
}

/// Chooses the port at connect, when the target is known: each source then has all ports for each target
/// (ip(7), IP_BIND_ADDRESS_NO_PORT).
fn leave_port_to_connect(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: a number of the size that is passed.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
