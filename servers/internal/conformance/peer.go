package conformance

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Patience is how long a connection may take in all: far longer than any server needs, so that only a hang is one.
const Patience = 20 * time.Second

// mostBody bounds what is read of an answer.
const mostBody = 16 << 20

// peer is the server that is asked.
type peer struct {
	address  string
	patience time.Duration
	// plain is its answer to a GET; nil before it was asked.
	plain *answer
}

// answer is a response, read to its end.
type answer struct {
	status int
	// closes: the server announced that it closes the connection.
	closes bool
	header http.Header
	// length is the Content-Length; -1: none.
	length int64
	body   []byte
}

func (peer *peer) learn() error {
	if peer.plain != nil {
		return nil
	}
	return peer.with(func(wire *wire) error {
		plain, err := wire.ask(peer.get())
		if err != nil {
			return fmt.Errorf("a plain GET: %w", err)
		}
		if plain.status != http.StatusOK {
			return fmt.Errorf("a plain GET: status %d, not 200", plain.status)
		}
		peer.plain = plain
		return nil
	})
}

// get is a plain request, with such headers as are wanted.
func (peer *peer) get(headers ...string) string { return peer.request("GET", "HTTP/1.1", headers...) }

func (peer *peer) request(method, version string, headers ...string) string {
	text := fmt.Sprintf("%s / %s\r\nHost: %s\r\n", method, version, peer.address)
	for _, header := range headers {
		text += header + "\r\n"
	}
	return text + "\r\n"
}

// same returns how an answer differs from the plain one.
func (peer *peer) same(answer *answer) error {
	if answer.status != peer.plain.status {
		return fmt.Errorf("status %d, where a plain GET has %d", answer.status, peer.plain.status)
	}
	if !bytes.Equal(answer.body, peer.plain.body) {
		return fmt.Errorf("%d bytes of body that are not the plain GET's %d", len(answer.body), len(peer.plain.body))
	}
	return nil
}

// with gives a case a new connection.
func (peer *peer) with(use func(*wire) error) error {
	conn, err := net.DialTimeout("tcp", peer.address, peer.patience)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(peer.patience)); err != nil {
		return err
	}
	return use(&wire{conn: conn, reader: bufio.NewReader(conn), peer: peer})
}

// wire is one connection to the server.
type wire struct {
	conn   net.Conn
	reader *bufio.Reader
	peer   *peer
}

func (wire *wire) send(text string) error {
	_, err := io.WriteString(wire.conn, text)
	return err
}

// ask sends a GET, or what is framed like one, and reads the answer.
func (wire *wire) ask(text string) (*answer, error) {
	if err := wire.send(text); err != nil {
		return nil, err
	}
	return wire.read("GET")
}

// askPlain sends a plain GET and checks the answer.
func (wire *wire) askPlain() error { return wire.asks(wire.peer.get()) }

// asks sends what has to be answered as a plain GET is.
func (wire *wire) asks(text string) error {
	answer, err := wire.ask(text)
	if err != nil {
		return err
	}
	return wire.peer.same(answer)
}

// read reads the final answer to a request.
func (wire *wire) read(method string) (*answer, error) {
	for {
		response, err := http.ReadResponse(wire.reader, &http.Request{Method: method})
		if err != nil {
			return nil, fmt.Errorf("no answer: %w", err)
		}
		body, err := io.ReadAll(io.LimitReader(response.Body, mostBody))
		if err != nil {
			return nil, fmt.Errorf("half an answer: %w", err)
		}
		if response.StatusCode < 200 {
			continue
		}
		return &answer{
			status: response.StatusCode,
			closes: response.Close,
			header: response.Header,
			length: response.ContentLength,
			body:   body,
		}, nil
	}
}

// silent checks that the server sends nothing, for a moment: an answer to half a request, or one too many, would be there at once.
func (wire *wire) silent() error {
	if err := wire.conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond)); err != nil {
		return err
	}
	text, err := wire.reader.Peek(1)
	if len(text) > 0 {
		return errors.New("an answer that nothing asked for")
	}
	if !timedOut(err) {
		return fmt.Errorf("it closed: %w", err)
	}
	return wire.conn.SetReadDeadline(time.Now().Add(wire.peer.patience))
}

// ended checks that the server sends no more and closes.
func (wire *wire) ended() error {
	rest, err := io.ReadAll(io.LimitReader(wire.reader, mostBody))
	switch {
	case timedOut(err):
		return errors.New("the connection stays open")
	case len(rest) > 0:
		return fmt.Errorf("%d bytes more before the connection closed", len(rest))
	default:
		// The end, or a reset, which is one as well.
		return nil
	}
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
