package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"truebench/servers/internal/conformance"
	"truebench/servers/internal/handler"
)

// variants are all ways of serving that a figure can be about.
var variants = []string{
	"nethttp",
	"nethttp -cost 20us",
	"fasthttp",
	"fasthttp -sleep 1ms",
	"multiplexed",
	"multiplexed -cost 20us",
	"multiplexed -loops 1",
	"multiplexed -loops 3 -lock-threads",
	"multiplexed -reuse-port",
	"multiplexed -edge-triggered",
	"multiplexed -pool 1",
	"multiplexed -pool 8 -sleep 1ms",
	"multiplexed -pool 8 -reuse-port -edge-triggered -lock-threads",
}

func TestConformance(t *testing.T) {
	for _, variant := range variants {
		t.Run(variant, func(t *testing.T) {
			server := start(t, variant)
			outcomes := conformance.Run(server.Address, conformance.Patience)
			if len(outcomes) != len(conformance.Cases()) {
				t.Errorf("%d outcomes of %d cases", len(outcomes), len(conformance.Cases()))
			}
			for _, outcome := range outcomes {
				if !outcome.Passed {
					t.Errorf("%s: %s", outcome.Case, outcome.Why)
				}
			}
		})
	}
}

func TestConformanceAsCommand(t *testing.T) {
	server := start(t, "nethttp")
	output, err := program("conformance", server.Address).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	if len(lines) != len(conformance.Cases()) {
		t.Errorf("%d lines of %d cases", len(lines), len(conformance.Cases()))
	}
	for _, line := range lines {
		var outcome conformance.Outcome
		if err := json.Unmarshal(line, &outcome); err != nil || !outcome.Passed {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// exchangeRaw sends some text and returns all that came until the server closed.
func exchangeRaw(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%q: %v after %q", text, err, answer)
	}
	return string(answer)
}

var date = regexp.MustCompile(`Date: [^\r]*GMT\r\n`)

// sameDate makes answers of different seconds comparable, and shows that there was one date in each.
func sameDate(t *testing.T, answer string) string {
	t.Helper()
	if found := len(date.FindAllString(answer, -1)); found != strings.Count(answer, "HTTP/1.1 ") {
		t.Errorf("%d dates in %q", found, answer)
	}
	return date.ReplaceAllString(answer, "Date: now\r\n")
}

// sorted sorts the headers of one answer: net/http and fasthttp each have an order of their own, and no option for it.
func sorted(answer string) string {
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

func TestEqualBytes(t *testing.T) {
	const last = "Host: a\r\nConnection: close\r\n"
	requests := []string{
		"GET / HTTP/1.1\r\n" + last + "\r\n",
		"HEAD / HTTP/1.1\r\n" + last + "\r\n",
		"GET /some/path?and=query HTTP/1.1\r\n" + last + "\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 5\r\n" + last + "\r\nhello",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + last + "\r\n5\r\nhello\r\n0\r\n\r\n",
	}
	var servers []*running
	for _, variant := range variants {
		servers = append(servers, start(t, variant))
	}
	for _, request := range requests {
		first := sorted(sameDate(t, exchangeRaw(t, servers[0].Address, request)))
		for index, server := range servers[1:] {
			if answer := sorted(sameDate(t, exchangeRaw(t, server.Address, request))); answer != first {
				t.Errorf("%s answers %q with\n%q, %s with\n%q", variants[0], request, first, variants[index+1], answer)
			}
		}
	}
	plain := exchangeRaw(t, servers[0].Address, requests[0])
	if !strings.HasPrefix(plain, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(plain, "\r\n\r\n"+handler.Body) {
		t.Errorf("the answer is %q", plain)
	}
}

// The multiplexed server keeps fasthttp's parser: to whatever it is sent, it answers byte for byte what fasthttp does.
func TestParserIsTheSame(t *testing.T) {
	const end = "\r\n\r\n"
	const closing = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close" + end
	texts := []string{
		closing,
		"\r\n" + closing,
		"GET / HTTP/1.1\r\nHost: a" + end + "HEAD / HTTP/1.1\r\nHost: a" + end + closing,
		"GET / HTTP/1.1\r\nHost: a" + end + "NOTHING" + end,
		"NOTHING" + end,
		"GET /" + end,
		"GET / HTTP/1.0" + end,
		"GET / HTTP/1.0\r\nConnection: keep-alive" + end + closing,
		"GET / HTTP/1.1" + end,
		"GET / HTTP/9.9\r\nHost: a\r\nConnection: close" + end,
		"GET / HTTP/1.1\r\nHost: a\r\nX Y: 1\r\nConnection: close" + end,
		"GET / HTTP/1.1\r\nHost: a\r\nX-Y : 1" + end,
		"GET / HTTP/1.1\r\nHost: a\r\n folded: 1" + end,
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b" + end,
		"GET http://b/ HTTP/1.1\r\nHost: a\r\nConnection: close" + end,
		"GET http://%zz/ HTTP/1.1\r\nHost: a\r\nConnection: close" + end,
		"GET / HTTP/1.1\r\nHost: a b\r\nConnection: close" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nConnection: close" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4194305" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nConnection: close" + end + "0" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked" + end + "zz" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked" + end + "3\r\nabcd" + end,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked" + end + "3;x=y\r\nabc\r\n0\r\nX: 1" + end + closing,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close" + end + "abc",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close" + end + "abc",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 5\r\nConnection: close" + end + "hello",
	}
	constant := start(t, "fasthttp")
	for _, variant := range []string{"multiplexed", "multiplexed -pool 2"} {
		server := start(t, variant)
		for _, text := range texts {
			want, got := exchangeRaw(t, constant.Address, text), exchangeRaw(t, server.Address, text)
			if date.ReplaceAllString(got, "") != date.ReplaceAllString(want, "") {
				t.Errorf("to %q\nfasthttp answers %q,\n%s %q", text, want, variant, got)
			}
		}
	}
}

func TestLineTells(t *testing.T) {
	server := start(t, "multiplexed -pool 3 -cost-rounds 7 -sleep 2ms")
	if server.Server != "multiplexed" || server.PID != server.process.Process.Pid {
		t.Errorf("it is %q with process id %d, not %d", server.Server, server.PID, server.process.Process.Pid)
	}
	if server.Options["pool"] != "3" || server.Cost != (handler.Cost{Rounds: 7, Sleep: 2 * time.Millisecond}) {
		t.Errorf("options %v, cost %v", server.Options, server.Cost)
	}
	if server.Go == "" || server.GOMAXPROCS < 1 || server.GOGC == 0 || server.GOMEMLIMIT == 0 {
		t.Errorf("Go %q, GOMAXPROCS %d, GOGC %d, GOMEMLIMIT %d", server.Go, server.GOMAXPROCS, server.GOGC, server.GOMEMLIMIT)
	}
	if _, listed := server.Modules["github.com/panjf2000/gnet/v2"]; !listed {
		t.Errorf("modules %v", server.Modules)
	}
	response, err := http.Get("http://" + server.Sidecar + "/debug/vars")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the sidecar answers %s", response.Status)
	}
}

func TestConcurrencyRefuses(t *testing.T) {
	server := start(t, "fasthttp -concurrency 1")
	open, err := net.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	if _, err := io.WriteString(open, request); err != nil {
		t.Fatal(err)
	}
	// Once it is answered the connection is counted.
	response, err := http.ReadResponse(bufio.NewReader(open), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the first connection: %v, %v", response, err)
	}
	// It is refused as it comes, whatever it would have asked.
	refused, err := net.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = refused.Close() }()
	response, err = http.ReadResponse(bufio.NewReader(refused), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the second connection gets %s", response.Status)
	}
}

// A worker answers one request at a time, and while all are busy the loop goes on: it reads, refuses, and writes.
func TestWorkersAreBoundedAndTheLoopIsFree(t *testing.T) {
	const workers, clients, sleep = 2, 8, 500 * time.Millisecond
	server := start(t, fmt.Sprintf("multiplexed -loops 1 -pool %d -sleep %v", workers, sleep))
	begin := time.Now()
	answered := make(chan time.Duration, clients)
	for range clients {
		go func() {
			_ = exchangeRaw(t, server.Address, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			answered <- time.Since(begin)
		}()
	}
	for firsts := range clients {
		taken := <-answered
		if firsts == 0 {
			// All others wait in line or with a worker.
			start := time.Now()
			refused := exchangeRaw(t, server.Address, "NOTHING\r\n\r\n")
			if !strings.HasPrefix(refused, "HTTP/1.1 400 ") || time.Since(start) > sleep/2 {
				t.Errorf("%q after %v", refused, time.Since(start))
			}
		}
		// No more than the workers in each sleep.
		if least := time.Duration(firsts/workers+1) * sleep; taken < least {
			t.Errorf("answer %d after %v, before %v", firsts+1, taken, least)
		}
	}
}

func TestWrongUseIsToldAndFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	uses := []string{"", "nothing", "nethttp stray", "nethttp -cost -1s", "multiplexed -pool -1", "conformance 127.0.0.1:1"}
	for _, subject := range subjects {
		uses = append(uses, fmt.Sprintf("%s -addr %s", subject.Name, taken.Addr()))
		uses = append(uses, fmt.Sprintf("%s -sidecar %s", subject.Name, taken.Addr()))
	}
	for _, use := range uses {
		var errors strings.Builder
		command := program(strings.Fields(use)...)
		command.Stderr = &errors
		// So that it ends by itself, or not at all.
		input, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		output, err := command.Output()
		_ = input.Close()
		if err == nil || !strings.Contains(errors.String(), "truebench-servers: ") {
			t.Errorf("%q: %v, %q, %q", use, err, output, errors.String())
		}
	}
}

func TestList(t *testing.T) {
	output, err := program("list").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(output)) {
		var one listed
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if one.About == "" {
			t.Errorf("nothing about %s", one.Server)
		}
		found = append(found, one.Server)
	}
	if !slices.Equal(found, names()) {
		t.Errorf("%v, not %v", found, names())
	}
}
