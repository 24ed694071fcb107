package conformance

import (
	"errors"
	"fmt"
	"strings"
)

// refusals are the cases of what is no request, or too much of one. Each has to be answered with an error or with the
// connection's end, at once.
var refusals = []Case{
	{"malformed", "what is no request is refused", malformed},
	{"malformed-body", "a body with an unknown end is refused", malformedBody},
	{"oversize-line", "a request line without an end is refused in time", oversizeLine},
	{"oversize-header", "a header without an end is refused in time", oversizeHeader},
	{"oversize-headers", "headers without an end are refused in time", oversizeHeaders},
}

func malformed(peer *peer) error {
	return peer.refuses([]string{
		"NOTHING\r\n\r\n",
		"GET /\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", // the beginning of TLS
		"GET / HTTP/1.1\r\n\r\n",                               // no Host
		"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
		"G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / FTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX-Y : 1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
	})
}

func malformedBody(peer *peer) error {
	return peer.refuses([]string{
		peer.request("POST", "HTTP/1.1", "Content-Length: ten") + "0123456789",
		peer.request("POST", "HTTP/1.1", "Content-Length: -1"),
		peer.request("POST", "HTTP/1.1", "Content-Length: 99999999999999999999999"),
		peer.request("POST", "HTTP/1.1", "Content-Length: 5", "Content-Length: 6") + "012345",
		peer.request("POST", "HTTP/1.1", "Transfer-Encoding: chunked") + "zz\r\nhello\r\n0\r\n\r\n",
		peer.request("POST", "HTTP/1.1", "Transfer-Encoding: chunked") + "5\r\nhello!\r\n0\r\n\r\n",
		peer.request("POST", "HTTP/1.1", "Transfer-Encoding: chunked") + "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
	})
}

func (peer *peer) refuses(texts []string) error {
	for _, text := range texts {
		if err := peer.with(func(wire *wire) error { return wire.refused(wire.send(text)) }); err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
	}
	return nil
}

// refused checks that the server answers with an error and closes, or closes. When it closes before it has read all, sending fails
// and its answer may be lost: that is a refusal too.
func (wire *wire) refused(sent error) error {
	if timedOut(sent) {
		return errors.New("it neither reads on nor refuses")
	}
	if _, err := wire.reader.Peek(1); err != nil {
		if timedOut(err) {
			return errors.New("neither an answer nor the connection's end")
		}
		return nil
	}
	answer, err := wire.read("GET")
	switch {
	case err != nil:
		return err
	case answer.status < 400:
		return fmt.Errorf("status %d", answer.status)
	default:
		return wire.ended()
	}
}

// tooMuch is in bytes: more than any server takes for a head, and than the buffers of two sockets hold.
const tooMuch = 64 << 20

func oversizeLine(peer *peer) error {
	return peer.with(func(wire *wire) error { return wire.floods("GET /", strings.Repeat("a", 8192)) })
}

func oversizeHeader(peer *peer) error {
	return peer.with(func(wire *wire) error {
		return wire.floods("GET / HTTP/1.1\r\nHost: a\r\nX: ", strings.Repeat("a", 8192))
	})
}

func oversizeHeaders(peer *peer) error {
	return peer.with(func(wire *wire) error {
		return wire.floods("GET / HTTP/1.1\r\nHost: a\r\n", strings.Repeat("X-Filler: aaaaaaaa\r\n", 400))
	})
}

// floods sends a beginning and then the same again and again, until the server has had enough.
func (wire *wire) floods(beginning, again string) error {
	err := wire.send(beginning)
	for sent := 0; err == nil; sent += len(again) {
		if sent > tooMuch {
			return fmt.Errorf("%d bytes of a head were taken", sent)
		}
		err = wire.send(again)
	}
	return wire.refused(err)
}
