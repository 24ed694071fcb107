//! Finds the network interface by which an address is reached.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use figure::Reading;

const LOOPBACK: &str = "lo";

/// The interface that owns the source address of a connection to `address`. Local addresses are reached over
/// loopback. Sends nothing.
pub fn towards(address: SocketAddr) -> Reading<String> {
    let address = SocketAddr::new(address.ip().to_canonical(), address.port().max(1));
    if address.ip().is_loopback() {
        return Reading::Value(LOOPBACK.to_owned());
    }
    let addresses = match local_addresses() {
        Ok(addresses) => addresses,
        Err(error) => return Reading::Unknown(format!("getifaddrs(3): {error}")),
    };
    if addresses.iter().any(|(_, local)| *local == address.ip()) {
        return Reading::Value(LOOPBACK.to_owned());
    }
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Connecting a UDP socket looks up the route and sends nothing (connect(2)).
    let route = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect(address)?;
        socket.local_addr()
    });
    match route {
        Ok(local) => {
            let interface = addresses.into_iter().find(|(_, address)| *address == local.ip());
            let (local, address) = (local.ip(), address.ip());
            let reason = format!("no interface has the address {local}, from which {address} is reached");
            Reading::or_unknown(interface.map(|(name, _)| name), &reason)
        }
        Err(error) => Reading::Unknown(format!("no route to {}: {error}", address.ip())),
    }
}

/// Addresses of this machine with the names of their interfaces.
fn local_addresses() -> std::io::Result<Vec<(String, IpAddr)>> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call writes one pointer to the given place: the head of a list that lives until it is freed
    // below.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mut addresses = Vec::new();
    let mut next = first;
    // SAFETY: an entry of the list, or null at its end; the list lives until it is freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: getifaddrs(3) gives a terminated name, and a valid address or null.
        let (name, address) = unsafe { (CStr::from_ptr(entry.ifa_name), ip(entry.ifa_addr)) };
        addresses.extend(address.map(|address| (name.to_string_lossy().into_owned(), address)));
        next = entry.ifa_next;
    }
    // SAFETY: the list came from getifaddrs, and no reference into it remains.
    unsafe { libc::freeifaddrs(first) };
    Ok(addresses)
}

/// The IP address of a socket address; `None` for another family.
///
/// # Safety
/// `address` is null, or a valid socket address of its family.
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: null or a valid socket address, as the caller guarantees. It may be unaligned.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let address = address.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let address = address.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn interface_towards(address: &str) -> Reading<String> {
        towards(format!("{address}:80").parse().unwrap())
    }

    #[test]
    fn local_addresses_are_reached_over_loopback() {
        for address in ["127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"] {
            assert_eq!(interface_towards(address), Reading::Value("lo".to_owned()), "{address}");
        }
        for (name, address) in local_addresses().unwrap() {
            let interface = towards(SocketAddr::new(address, 80));
            assert_eq!(interface, Reading::Value("lo".to_owned()), "{name} {address}");
        }
    }

    #[test]
    fn others_by_an_interface_that_there_is_or_not_at_all() {
        // TEST-NET-2 (RFC 5737): there is a default route, or none.
        match interface_towards("198.51.100.1") {
            Reading::Value(name) => {
                assert!(local_addresses().unwrap().iter().any(|(other, _)| *other == name), "{name}");
            }
            Reading::Unknown(reason) => assert!(reason.contains("198.51.100.1"), "{reason}"),
        }
    }
}
