package multiplexed

import (
	"github.com/panjf2000/gnet/v2"

	"truebench/servers/internal/handler"
)

// mostPending is the number of bytes that one request may have on the wire, with the framing of its chunks, and that may wait
// while a worker has a request of the same connection: gnet has no way of letting them wait in the kernel.
const mostPending = handler.MostHead + 2*handler.MostBody

var interim = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// connection is what is known of a connection between two events. Its loop alone uses it.
type connection struct {
	gnet.Conn
	server *server
	// needed is the number of bytes of input below which the next request cannot be complete.
	needed int
	// continued: 100 Continue was sent for the incomplete request.
	continued bool
	// busy: a worker has a request of this connection.
	busy bool
}

// answerAll answers each complete request in the input, all with one write.
func (connection *connection) answerAll() gnet.Action {
	input, _ := connection.Peek(-1)
	exchange := idle.Get().(*exchange)
	defer exchange.release()
	action, used := gnet.None, 0
	for action == gnet.None && len(input)-used >= max(connection.needed, 1) {
		read := exchange.read(input[used:], connection.continued)
		used += read.used
		connection.note(read)
		switch read.state {
		case complete:
			exchange.answer(connection.server.handle)
		case refused:
			exchange.refuse(read.err)
		case awaitsContinue:
			// An error would be the buffer's, which has none.
			_, _ = exchange.writer.Write(interim)
			continue
		}
		if read.state == incomplete {
			break
		}
		if exchange.last {
			action = gnet.Close
		}
	}
	// The input is gnet's own memory, gone once it is discarded; to discard nothing would discard all.
	if used > 0 {
		_, _ = connection.Discard(used)
	}
	if output := exchange.output(); len(output) > 0 {
		// When this fails gnet has closed the connection, and must not read from it: to close again is harmless.
		if _, err := connection.Write(output); err != nil {
			return gnet.Close
		}
	}
	return action
}

// handOver gives the next request, if it is complete, to a worker.
func (connection *connection) handOver() gnet.Action {
	for !connection.busy && connection.InboundBuffered() >= max(connection.needed, 1) {
		input, _ := connection.Peek(-1)
		exchange := idle.Get().(*exchange)
		read := exchange.read(input, connection.continued)
		connection.note(read)
		if read.used > 0 {
			_, _ = connection.Discard(read.used)
		}
		switch read.state {
		case complete:
			connection.busy = true
			exchange.connection = connection
			connection.server.crew.take(exchange)
			return gnet.None
		case refused:
			exchange.refuse(read.err)
			// If it fails the connection is closed already.
			_, _ = connection.Write(exchange.output())
			exchange.release()
			return gnet.Close
		case awaitsContinue:
			exchange.release()
			if _, err := connection.Write(interim); err != nil {
				return gnet.Close
			}
		case incomplete:
			exchange.release()
			return gnet.None
		}
	}
	if connection.InboundBuffered() > mostPending {
		return gnet.Close
	}
	return gnet.None
}

// answered is called on the loop when a worker's answer was written.
func (connection *connection) answered(conn gnet.Conn, exchange *exchange, err error) {
	last := exchange.last
	exchange.release()
	if err != nil {
		return
	}
	connection.busy = false
	if last || connection.handOver() == gnet.Close {
		// It fails only for a connection that is closed.
		_ = conn.EventLoop().Close(conn)
	}
}

// note keeps what the next look at the input has to know.
func (connection *connection) note(read read) {
	connection.needed = read.needed
	connection.continued = read.state == awaitsContinue || connection.continued && read.state == incomplete
}
