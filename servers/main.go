// Command truebench-servers runs the HTTP servers that truebench loads, one at a time, and says whether a server is fit for it.
//
//	truebench-servers list                      the servers, a line of JSON for each
//	truebench-servers conformance ADDRESS       does the server there keep to HTTP/1.1? a line of JSON for each case
//	truebench-servers NAME [flags]              runs a server until standard input ends
//
// A server prints one line of JSON once it takes connections: see started. Its logs go to standard error.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"truebench/servers/fasthttp"
	"truebench/servers/internal/conformance"
	"truebench/servers/internal/subject"
	"truebench/servers/multiplexed"
	"truebench/servers/nethttp"
)

// subjects are the servers, in the order in which they are shown.
var subjects = []subject.Subject{
	nethttp.Subject,
	fasthttp.Subject,
	multiplexed.Subject,
}

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "truebench-servers: %v\n", err)
		os.Exit(1)
	}
}

func command(arguments []string) error {
	if len(arguments) == 0 {
		return usage()
	}
	name, rest := arguments[0], arguments[1:]
	switch {
	case name == "list" && len(rest) == 0:
		return list()
	case name == "conformance" && len(rest) == 1:
		return conform(rest[0])
	}
	for _, subject := range subjects {
		if subject.Name == name {
			return serve(subject, rest)
		}
	}
	return usage()
}

func usage() error {
	return fmt.Errorf("give a server's name (%q), \"list\", or \"conformance HOST:PORT\"", names())
}

func names() []string {
	var names []string
	for _, subject := range subjects {
		names = append(names, subject.Name)
	}
	return names
}

// listed is what "list" prints of a server.
type listed struct {
	Server  string            `json:"server"`
	About   string            `json:"about"`
	Modules map[string]string `json:"modules"`
}

func list() error {
	lines := json.NewEncoder(os.Stdout)
	for _, subject := range subjects {
		if err := lines.Encode(listed{subject.Name, subject.About, versions(subject.Modules)}); err != nil {
			return err
		}
	}
	return nil
}

func conform(address string) error {
	lines := json.NewEncoder(os.Stdout)
	failed := 0
	for _, outcome := range conformance.Run(address, conformance.Patience) {
		if !outcome.Passed {
			failed++
		}
		if err := lines.Encode(outcome); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("the server at %s failed %d of the cases above", address, failed)
	}
	return nil
}
