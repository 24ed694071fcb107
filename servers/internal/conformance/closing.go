package conformance

import (
	"errors"
	"fmt"
)

// closing are the cases of when a connection ends.
var closing = []Case{
	{"close", "Connection: close is answered, announced and done", closes},
	{"close-pipelined", "nothing is answered after a request with Connection: close", closesPipelined},
	{"http-1.0", "a request of HTTP/1.0 is answered and the connection closed", oldVersion},
	{"http-1.0-keep-alive", "HTTP/1.0 with Connection: keep-alive is answered, and stays open if that is announced", oldKeepAlive},
}

func closes(peer *peer) error { return peer.lastAnswer(peer.get("Connection: close")) }

func closesPipelined(peer *peer) error {
	return peer.lastAnswer(peer.get("Connection: close") + peer.get() + peer.get())
}

func (peer *peer) lastAnswer(request string) error {
	return peer.with(func(wire *wire) error {
		answer, err := wire.ask(request)
		if err != nil {
			return err
		}
		if err := peer.same(answer); err != nil {
			return err
		}
		if !answer.closes {
			return errors.New("no Connection: close in the answer")
		}
		return wire.ended()
	})
}

func oldVersion(peer *peer) error {
	return peer.with(func(wire *wire) error {
		if err := wire.asks(peer.request("GET", "HTTP/1.0")); err != nil {
			return err
		}
		return wire.ended()
	})
}

func oldKeepAlive(peer *peer) error {
	return peer.with(func(wire *wire) error {
		answer, err := wire.ask(peer.request("GET", "HTTP/1.0", "Connection: keep-alive"))
		if err != nil {
			return err
		}
		if err := peer.same(answer); err != nil {
			return err
		}
		if answer.header.Get("Connection") != "keep-alive" {
			return wire.ended()
		}
		if err := wire.askPlain(); err != nil {
			return fmt.Errorf("the next request, although the answer had keep-alive: %w", err)
		}
		return nil
	})
}
