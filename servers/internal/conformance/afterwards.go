package conformance

import (
	"errors"
	"fmt"
)

// afterwards are the cases of other connections: those before must not have hurt the server.
var afterwards = []Case{
	{"abandoned", "clients that leave in the middle of a request affect no other client", abandoned},
	{"concurrent", "many connections at once are each answered, in order", concurrent},
}

func abandoned(peer *peer) error {
	for _, text := range []string{"", "GET", peer.get()[:30], peer.counted(1000)[:200], peer.chunked()[:120], peer.row()} {
		if err := peer.with(func(wire *wire) error { return wire.send(text) }); err != nil {
			return err
		}
	}
	return keepAlive(peer)
}

// connections is how many are used at once.
const connections = 64

func concurrent(peer *peer) error {
	outcomes := make(chan error, connections)
	for number := range connections {
		go func() {
			use := keepAlive
			if number%2 == 0 {
				use = pipelined
			}
			if err := use(peer); err != nil {
				outcomes <- fmt.Errorf("connection %d of %d: %w", number+1, connections, err)
				return
			}
			outcomes <- nil
		}()
	}
	var all []error
	for range connections {
		all = append(all, <-outcomes)
	}
	return errors.Join(all...)
}
