package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// bodies are the cases of requests with bodies. A server may refuse a POST, but it has to know where the body ends: it answers the
// next request rightly, or says that it closes, and does.
var bodies = []Case{
	{"content-length", "a body with a Content-Length is not taken for a request", contentLength},
	{"content-length-split", "a body in pieces is waited for", contentLengthSplit},
	{"content-length-large", "a body of 300 KB is taken or refused", contentLengthLarge},
	{"chunked", "a body in chunks, with extensions and a trailer, is not taken for a request", chunked},
	{"chunked-split", "a body in chunks that comes byte by byte is waited for", chunkedSplit},
	{"continue", "Expect: 100-continue is answered before the body is sent", expectContinue},
}

// within is a request that is none: it is inside a body.
const within = "GET /within HTTP/1.1\r\nHost: a\r\n\r\n"

// counted is a POST with a body of so many bytes, which look like a request.
func (peer *peer) counted(length int) string {
	body := strings.Repeat(within, length/len(within)+1)[:length]
	return peer.request("POST", "HTTP/1.1", fmt.Sprintf("Content-Length: %d", length)) + body
}

// chunked is a POST with a body in chunks.
func (peer *peer) chunked() string {
	return peer.request("POST", "HTTP/1.1", "Transfer-Encoding: chunked", "Trailer: X-Sum") +
		"5\r\nhello\r\n" + fmt.Sprintf("%x;part=\"2\"\r\n%s\r\n", len(within), within) + "1\r\n!\r\n" + "0\r\nX-Sum: 3\r\n\r\n"
}

func contentLength(peer *peer) error { return peer.posts(peer.counted(1000)) }

func contentLengthLarge(peer *peer) error { return peer.posts(peer.counted(300_000)) }

func chunked(peer *peer) error { return peer.posts(peer.chunked()) }

// posts sends a request with a body, whole.
func (peer *peer) posts(request string) error {
	return peer.with(func(wire *wire) error {
		// A server that refuses may close before it has read all: what it answered counts.
		failed := wire.send(request)
		if err := wire.inStep(); err != nil {
			return err
		}
		return failed
	})
}

// inStep reads the answer to a request with a body, and checks that the server knows where the body ended.
func (wire *wire) inStep() error {
	answer, err := wire.read("POST")
	if err != nil {
		return err
	}
	if answer.closes {
		return wire.ended()
	}
	if err := wire.silent(); err != nil {
		return err
	}
	if err := wire.askPlain(); err != nil {
		return fmt.Errorf("the next request: %w", err)
	}
	return nil
}

func contentLengthSplit(peer *peer) error {
	request := peer.counted(1000)
	return peer.with(func(wire *wire) error {
		for _, piece := range []string{request[:len(request)-900], request[len(request)-900 : len(request)-1]} {
			if err := wire.send(piece); err != nil {
				return err
			}
			time.Sleep(time.Millisecond)
		}
		if err := wire.send(request[len(request)-1:]); err != nil {
			return err
		}
		return wire.inStep()
	})
}

func chunkedSplit(peer *peer) error {
	return peer.with(func(wire *wire) error {
		for _, letter := range strings.Split(peer.chunked(), "") {
			if err := wire.send(letter); err != nil {
				return err
			}
			time.Sleep(100 * time.Microsecond)
		}
		return wire.inStep()
	})
}

func expectContinue(peer *peer) error {
	return peer.with(func(wire *wire) error {
		request := peer.request("POST", "HTTP/1.1", "Content-Length: 10", "Expect: 100-continue")
		if err := wire.send(request); err != nil {
			return err
		}
		response, err := http.ReadResponse(wire.reader, &http.Request{Method: "POST"})
		if err != nil {
			return fmt.Errorf("neither an interim answer nor a final one: %w", err)
		}
		if response.StatusCode != http.StatusContinue {
			// A final answer, such as 405 or 417: the body is not wanted.
			if response.StatusCode < 400 {
				return fmt.Errorf("status %d before the body was sent", response.StatusCode)
			}
			return nil
		}
		// In two pieces, so that a server that parses the head again sends 100 Continue only once.
		if err := wire.send("01234"); err != nil {
			return err
		}
		if err := wire.silent(); err != nil {
			return err
		}
		if err := wire.send("56789"); err != nil {
			return err
		}
		return wire.inStep()
	})
}
