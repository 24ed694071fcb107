package multiplexed

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"truebench/servers/internal/handler"
)

var whole = map[string]string{
	"no body":        "GET /path HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
	"empty body":     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
	"body":           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world",
	"chunks":         "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1a;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
	"trailer":        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n",
	"multipart":      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 5\r\n\r\nhello",
	"of HTTP/1.0":    "GET / HTTP/1.0\r\n\r\n",
	"after lines":    "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
	"large body":     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("a", 9000),
	"large chunks":   "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2328\r\n" + strings.Repeat("a", 9000) + "\r\n0\r\n\r\n",
	"a chunk of hex": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n00000003\r\nabc\r\n0\r\n\r\n",
}

func newExchange() *exchange { return idle.New().(*exchange) }

// Each beginning of a request is incomplete, needs no more than there will be, and the whole is complete.
func TestEachBeginningIsIncomplete(t *testing.T) {
	exchange := newExchange()
	for name, request := range whole {
		for length := range len(request) {
			found := exchange.read([]byte(request[:length]), false)
			if found.state != incomplete || found.used != 0 || found.needed > len(request) ||
				found.needed > 0 && found.needed <= length {
				t.Fatalf("%s, %d bytes of %d: %+v", name, length, len(request), found)
			}
		}
		if found := exchange.read([]byte(request), false); found.state != complete || found.used != len(request) {
			t.Errorf("%s, whole (%d bytes): %+v", name, len(request), found)
		}
	}
}

// Bytes after a request are not read.
func TestWhatFollowsIsLeft(t *testing.T) {
	exchange := newExchange()
	for name, request := range whole {
		for _, next := range []string{"GET / HTTP/1.1\r\n", "\r\n", "\x00\x01", strings.Repeat("a", 9000)} {
			found := exchange.read([]byte(request+next), false)
			if found.state != complete || found.used != len(request) {
				t.Errorf("%s (%d bytes) before %.20q: %+v", name, len(request), next, found)
			}
		}
	}
}

func TestAnExchangeForgets(t *testing.T) {
	exchange := newExchange()
	exchange.read([]byte(whole["body"]), false)
	exchange.read([]byte(whole["no body"]), false)
	request := &exchange.ctx.Request
	if len(request.Body()) != 0 || string(request.RequestURI()) != "/path" || string(request.Header.Method()) != "GET" {
		t.Errorf("%s with %q", request.Header.String(), request.Body())
	}
}

func TestBodiesAreRead(t *testing.T) {
	exchange := newExchange()
	for name, body := range map[string]string{
		"body": "hello world", "chunks": "helloabcdefghijklmnopqrstuvwxyz", "a chunk of hex": "abc",
	} {
		exchange.read([]byte(whole[name]), false)
		if found := string(exchange.ctx.Request.Body()); found != body {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func TestInputIsNotKept(t *testing.T) {
	exchange := newExchange()
	input := []byte(whole["chunks"])
	exchange.read(input, false)
	for index := range input {
		input[index] = '!'
	}
	request := &exchange.ctx.Request
	if strings.Contains(request.Header.String(), "!") || bytes.ContainsRune(request.Body(), '!') {
		t.Errorf("%s with %q", request.Header.String(), request.Body())
	}
}

func TestContinueIsAwaitedOnce(t *testing.T) {
	exchange := newExchange()
	head := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
	if found := exchange.read([]byte(head), false); found.state != awaitsContinue || found.used != 0 {
		t.Errorf("%+v", found)
	}
	if found := exchange.read([]byte(head), true); found.state != incomplete || found.needed != len(head)+5 {
		t.Errorf("%+v", found)
	}
	if found := exchange.read([]byte(head+"hello"), true); found.state != complete || found.used != len(head)+5 {
		t.Errorf("%+v", found)
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	exchange := newExchange()
	for name, request := range map[string]string{
		"line":    "GET /" + strings.Repeat("a", handler.MostHead),
		"headers": "GET / HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", handler.MostHead/6),
		"body":    fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", handler.MostBody+1),
		"chunk":   "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
		"extension": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
			strings.Repeat("a", mostPending),
	} {
		if found := exchange.read([]byte(request), false); found.state != refused || found.err == nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Any input: no panic, and a consistent result. Seeds run with the other tests.
func FuzzRead(f *testing.F) {
	for _, request := range whole {
		f.Add([]byte(request), false)
	}
	f.Add([]byte("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"), true)
	exchange := newExchange()
	f.Fuzz(func(t *testing.T, input []byte, continued bool) {
		found := exchange.read(input, continued)
		if found.used < 0 || found.used > len(input) ||
			(found.state == complete) != (found.used > 0) ||
			(found.state == refused) != (found.err != nil) ||
			found.needed > 0 && found.needed <= len(input) ||
			found.state == awaitsContinue && continued {
			t.Errorf("%+v of %d bytes", found, len(input))
		}
		if found.state == complete {
			exchange.answer(func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString(handler.Body) })
			if !bytes.HasPrefix(exchange.output(), []byte("HTTP/1.1 200 OK\r\n")) {
				t.Errorf("answered %q", exchange.output())
			}
			exchange.writer.Reset(&exchange.buffer)
			exchange.buffer.Reset()
		}
	})
}
