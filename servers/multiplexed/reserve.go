package multiplexed

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// reserve chooses the port where an address leaves it open (0). gnet would choose another for each loop that listens, and does not
// report which. The port is bound, by a socket that does not listen, until release is called. An address with a port is
// returned as it is.
func reserve(address string) (bound *net.TCPAddr, release func(), err error) {
	bound, err = net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	if bound.Port != 0 {
		return bound, func() {}, nil
	}
	family, wanted := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{})
	if ip := bound.IP.To4(); ip != nil {
		family, wanted = unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte(ip)}
	} else if bound.IP != nil {
		wanted = &unix.SockaddrInet6{Addr: [16]byte(bound.IP.To16())}
	}
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socket", err)
	}
	release = func() { _ = unix.Close(socket) }
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, option, 1); err != nil {
			release()
			return nil, nil, os.NewSyscallError("setsockopt", err)
		}
	}
	if err := unix.Bind(socket, wanted); err != nil {
		release()
		return nil, nil, os.NewSyscallError("bind", err)
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		release()
		return nil, nil, os.NewSyscallError("getsockname", err)
	}
	switch name := name.(type) {
	case *unix.SockaddrInet4:
		bound.Port = name.Port
	case *unix.SockaddrInet6:
		bound.Port = name.Port
	}
	return bound, release, nil
}
