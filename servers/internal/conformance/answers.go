package conformance

import (
	"errors"
	"fmt"
	"net/http"
)

// inARow is the number of requests on one connection where there are several.
const inARow = 50

// answers are the cases of whole requests, one at a time.
var answers = []Case{
	{"plain", "a GET is answered 200, with a Date and a length that is its body's", plain},
	{"keep-alive", "a connection stays open and answers request after request", keepAlive},
	{"head", "HEAD gets GET's headers, its length too, and no body", head},
	{"head-as-get", "the headers of HEAD and GET are the same", headAsGet},
}

func plain(peer *peer) error {
	if peer.plain.length != int64(len(peer.plain.body)) {
		return fmt.Errorf("Content-Length %d, but %d bytes of body", peer.plain.length, len(peer.plain.body))
	}
	if _, err := http.ParseTime(peer.plain.header.Get("Date")); err != nil {
		return fmt.Errorf("the Date header: %w", err)
	}
	if peer.plain.closes {
		return errors.New("the connection is closed although no one requested it")
	}
	return nil
}

func keepAlive(peer *peer) error {
	return peer.with(func(wire *wire) error {
		for number := range inARow {
			if err := wire.askPlain(); err != nil {
				return fmt.Errorf("request %d: %w", number+1, err)
			}
		}
		return nil
	})
}

func head(peer *peer) error {
	return peer.with(func(wire *wire) error {
		for range 3 {
			if err := wire.send(peer.request("HEAD", "HTTP/1.1")); err != nil {
				return err
			}
			answer, err := wire.read("HEAD")
			if err != nil {
				return err
			}
			if answer.status != peer.plain.status || answer.length != peer.plain.length {
				return fmt.Errorf("status %d and length %d, where GET has %d and %d",
					answer.status, answer.length, peer.plain.status, peer.plain.length)
			}
			// A body would be taken for the beginning of this answer.
			if err := wire.askPlain(); err != nil {
				return fmt.Errorf("the next request: %w", err)
			}
		}
		return nil
	})
}

func headAsGet(peer *peer) error {
	return peer.with(func(wire *wire) error {
		if err := wire.send(peer.request("HEAD", "HTTP/1.1")); err != nil {
			return err
		}
		answer, err := wire.read("HEAD")
		if err != nil {
			return err
		}
		for name := range peer.plain.header {
			if answer.header.Get(name) == "" {
				return fmt.Errorf("HEAD lacks %s", name)
			}
		}
		return nil
	})
}
