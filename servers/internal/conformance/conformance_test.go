package conformance

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const hello = "Hello, Go!"

func helloHandler(response http.ResponseWriter, request *http.Request) {
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		response.Header().Set("Connection", "close")
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(response, hello)
}

func failed(address string, patience time.Duration) []string {
	var failed []string
	for _, outcome := range Run(address, patience) {
		if !outcome.Passed {
			failed = append(failed, outcome.Case)
		}
	}
	return failed
}

func TestASoundServerPasses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(helloHandler))
	defer server.Close()
	if failed := failed(server.Listener.Addr().String(), Patience); len(failed) > 0 {
		t.Errorf("failed %v", failed)
	}
}

// Each defect is planted, and found by the cases that are for it.
func TestDefectsAreFound(t *testing.T) {
	for _, defect := range []struct {
		name   string
		start  func(*testing.T) string
		failed []string
	}{
		{"no date", handles(func(response http.ResponseWriter, request *http.Request) {
			response.Header()["Date"] = nil
			helloHandler(response, request)
		}), []string{"plain"}},
		{"closes each connection", handles(func(response http.ResponseWriter, request *http.Request) {
			response.Header().Set("Connection", "close")
			helloHandler(response, request)
		}), []string{"plain", "keep-alive", "pipelined"}},
		{"now and then another body", handles(eachTenthWrong()), []string{"keep-alive"}},
		{"HEAD without a length", handles(func(response http.ResponseWriter, request *http.Request) {
			if request.Method != "HEAD" {
				helloHandler(response, request)
			}
		}), []string{"head"}},
		{"HEAD with a body", rewrites("HEAD /", "GET /"), []string{"head", "pipelined"}},
		{"does not know close", rewrites("Connection: close", "Connection: never"), []string{"close", "close-pipelined"}},
		{"takes 1.0 for 1.1", rewrites("HTTP/1.0", "HTTP/1.1"), []string{"http-1.0"}},
		{"does not know Content-Length", rewrites("Content-Length", "Content-Size"),
			[]string{"content-length", "content-length-split", "content-length-large", "pipelined-bodies"}},
		{"does not know chunks", rewrites("Transfer-Encoding", "Transfer-Coding"), []string{"chunked", "chunked-split"}},
		{"does not know Expect", rewrites("Expect: ", "Expects: "), []string{"continue"}},
		{"answers whatever it reads", converses(func(conn net.Conn, _ []byte) { answerTo(conn, "GET") }),
			[]string{"split", "byte-by-byte", "pipelined", "malformed", "malformed-body", "oversize-headers"}},
		{"answers out of order", converses(outOfOrder), []string{"pipelined"}},
		{"waits for ever for what never comes", converses(waits()),
			[]string{"malformed", "oversize-line", "oversize-header", "oversize-headers"}},
		{"mixes up connections", handles(wrongWhenMany()), []string{"concurrent"}},
		{"no server", func(*testing.T) string { return "127.0.0.1:1" }, []string{"plain", "concurrent"}},
	} {
		t.Run(defect.name, func(t *testing.T) {
			t.Parallel()
			found := failed(defect.start(t), 300*time.Millisecond)
			for _, name := range defect.failed {
				if !slices.Contains(found, name) {
					t.Errorf("%s passed; failed were only %v", name, found)
				}
			}
		})
	}
}

func handles(handle http.HandlerFunc) func(*testing.T) string {
	return func(t *testing.T) string {
		server := httptest.NewServer(handle)
		t.Cleanup(server.CloseClientConnections)
		return server.Listener.Addr().String()
	}
}

func eachTenthWrong() http.HandlerFunc {
	var count atomic.Int64
	return func(response http.ResponseWriter, request *http.Request) {
		if count.Add(1)%10 == 0 {
			_, _ = io.WriteString(response, "Hello, C!")
			return
		}
		helloHandler(response, request)
	}
}

func wrongWhenMany() http.HandlerFunc {
	var active atomic.Int64
	return func(response http.ResponseWriter, request *http.Request) {
		defer active.Add(-1)
		if active.Add(1) > 1 {
			_, _ = io.WriteString(response, "Hello, you!")
			return
		}
		time.Sleep(100 * time.Microsecond)
		helloHandler(response, request)
	}
}

// rewrites has a sound server that reads something else than what it is sent.
func rewrites(old, replacement string) func(*testing.T) string {
	return func(t *testing.T) string {
		server := httptest.NewUnstartedServer(http.HandlerFunc(helloHandler))
		server.Listener = rewriting{server.Listener, []byte(old), []byte(replacement)}
		server.Start()
		t.Cleanup(server.CloseClientConnections)
		return server.Listener.Addr().String()
	}
}

type rewriting struct {
	net.Listener
	old, replacement []byte
}

func (listener rewriting) Accept() (net.Conn, error) {
	conn, err := listener.Listener.Accept()
	return &rewritten{Conn: conn, listener: listener}, err
}

// rewritten holds back the bytes of an unfinished line, so that no match is missed where a read ends.
type rewritten struct {
	net.Conn
	listener      rewriting
	ready, partly []byte
}

func (conn *rewritten) Read(into []byte) (int, error) {
	for len(conn.ready) == 0 {
		piece := make([]byte, 4096)
		count, err := conn.Conn.Read(piece)
		if err != nil {
			return 0, err
		}
		conn.partly = append(conn.partly, piece[:count]...)
		keep := 0
		// What may be the beginning of a match waits.
		for length := min(len(conn.listener.old)-1, len(conn.partly)); length > 0; length-- {
			if bytes.HasSuffix(conn.partly, conn.listener.old[:length]) {
				keep = length
				break
			}
		}
		whole := conn.partly[:len(conn.partly)-keep]
		conn.ready = bytes.ReplaceAll(whole, conn.listener.old, conn.listener.replacement)
		conn.partly = slices.Clone(conn.partly[len(whole):])
	}
	count := copy(into, conn.ready)
	conn.ready = conn.ready[count:]
	return count, nil
}

// converses starts a server; react gets each piece that it reads.
func converses(react func(net.Conn, []byte)) func(*testing.T) string {
	return func(t *testing.T) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer func() { _ = conn.Close() }()
					piece := make([]byte, 64<<10)
					for {
						count, err := conn.Read(piece)
						if err != nil {
							return
						}
						react(conn, piece[:count])
					}
				}()
			}
		}()
		return listener.Addr().String()
	}
}

func answerTo(conn net.Conn, method string) {
	body := hello
	if method == "HEAD" {
		body = ""
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Length: %d\r\n\r\n%s",
		time.Now().UTC().Format(http.TimeFormat), len(hello), body)
}

func outOfOrder(conn net.Conn, text []byte) {
	for _, method := range []string{"HEAD", "GET"} {
		for range strings.Count(string(text), method+" / ") {
			answerTo(conn, method)
		}
	}
}

// waits answers requests as it should, and whatever is none not at all.
func waits() func(net.Conn, []byte) {
	return func(conn net.Conn, text []byte) {
		if bytes.HasPrefix(text, []byte("GET / HTTP/1.1\r\nHost: 127")) && bytes.HasSuffix(text, []byte("\r\n\r\n")) {
			answerTo(conn, "GET")
		}
	}
}
