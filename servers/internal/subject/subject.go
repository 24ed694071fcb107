// Package subject is what the servers under test are to the program that runs them.
package subject

import (
	"flag"
	"net"

	"truebench/servers/internal/handler"
)

// Subject is a server under test.
type Subject struct {
	// Name is what it is called on the command line and in figures.
	Name string
	// About says in one line what is particular about it.
	About string
	// Modules are the paths of its modules outside Go's own library.
	Modules []string
	// New declares the server's own flags; what it returns is called once they are parsed.
	New func(*flag.FlagSet) Serve
}

// Serve listens at an address (its port may be 0: any), reports the address once connections are accepted, and serves until an error.
type Serve func(address string, cost handler.Cost, ready func(net.Addr)) error
