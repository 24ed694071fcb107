package conformance

import (
	"fmt"
	"strings"
	"time"
)

// pieces are the cases of requests that do not come one in each read.
var pieces = []Case{
	{"split", "a request in two pieces is answered when it is complete, and not before", split},
	{"byte-by-byte", "a request byte by byte is answered", byteByByte},
	{"pipelined", "requests sent in a row are answered in their order", pipelined},
	{"pipelined-split", "requests sent in a row, cut anywhere, are answered in their order", pipelinedSplit},
	{"pipelined-bodies", "requests with bodies sent in a row are separated", pipelinedBodies},
}

func split(peer *peer) error {
	request := peer.get("X-Filler: " + strings.Repeat("a", 200))
	return peer.with(func(wire *wire) error {
		// In the line, in a header, between the two bytes of the last line end.
		for _, cut := range []int{3, 40, len(request) - 1} {
			if err := wire.send(request[:cut]); err != nil {
				return err
			}
			if err := wire.silent(); err != nil {
				return fmt.Errorf("cut at byte %d: %w", cut, err)
			}
			if err := wire.asks(request[cut:]); err != nil {
				return fmt.Errorf("cut at byte %d: %w", cut, err)
			}
		}
		return nil
	})
}

func byteByByte(peer *peer) error {
	return peer.with(func(wire *wire) error {
		for _, letter := range strings.Split(peer.get("X-Filler: abc"), "") {
			if err := wire.send(letter); err != nil {
				return err
			}
			// So that the server most often reads each apart; the case holds in either event.
			time.Sleep(100 * time.Microsecond)
		}
		answer, err := wire.read("GET")
		if err != nil {
			return err
		}
		if err := peer.same(answer); err != nil {
			return err
		}
		return wire.silent()
	})
}

// order is the methods of requests in a row, without a rhythm: an answer to HEAD has no body, so a wrong order shows.
var order = strings.Fields(strings.Repeat("GET HEAD GET GET HEAD HEAD HEAD GET ", 8))

func pipelined(peer *peer) error {
	return peer.with(func(wire *wire) error {
		if err := wire.send(peer.row()); err != nil {
			return err
		}
		return wire.readRow()
	})
}

func pipelinedSplit(peer *peer) error {
	return peer.with(func(wire *wire) error {
		// A prime, so that the cuts come everywhere in the requests.
		const piece = 37
		for row := peer.row(); row != ""; {
			cut := min(piece, len(row))
			if err := wire.send(row[:cut]); err != nil {
				return err
			}
			row = row[cut:]
			time.Sleep(50 * time.Microsecond)
		}
		return wire.readRow()
	})
}

func (peer *peer) row() string {
	var row strings.Builder
	for _, method := range order {
		row.WriteString(peer.request(method, "HTTP/1.1"))
	}
	return row.String()
}

func (wire *wire) readRow() error {
	for number, method := range order {
		answer, err := wire.read(method)
		if err != nil {
			return fmt.Errorf("answer %d of %d: %w", number+1, len(order), err)
		}
		if method == "GET" {
			err = wire.peer.same(answer)
		} else if answer.length != wire.peer.plain.length {
			err = fmt.Errorf("length %d, not %d", answer.length, wire.peer.plain.length)
		}
		if err != nil {
			return fmt.Errorf("answer %d of %d, to %s: %w", number+1, len(order), method, err)
		}
	}
	return nil
}

func pipelinedBodies(peer *peer) error {
	return peer.with(func(wire *wire) error {
		row := peer.counted(100) + peer.get() + peer.chunked() + peer.get()
		if err := wire.send(row); err != nil {
			return err
		}
		for number, checked := range []bool{false, true, false, true} {
			answer, err := wire.read("GET")
			if err != nil {
				return fmt.Errorf("answer %d of 4: %w", number+1, err)
			}
			if checked {
				if err := peer.same(answer); err != nil {
					return fmt.Errorf("answer %d of 4: %w", number+1, err)
				}
			} else if answer.closes {
				// It takes no bodies.
				return wire.ended()
			}
		}
		return wire.silent()
	})
}
