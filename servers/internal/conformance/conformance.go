// Package conformance finds out whether a server keeps to as much of HTTP/1.1 as a figure about it rests on: requests that come
// in pieces, in a row, with bodies, or that are none. It asks any server, over the network; what the server answers to a
// plain GET is what it has to answer everywhere.
//
// The rules are those of RFC 9110 and RFC 9112.
package conformance

import (
	"fmt"
	"time"
)

// Case is one way in which a server can fail.
type Case struct {
	// Name is short and stable.
	Name string
	// About says what has to happen.
	About string
	run   func(*peer) error
}

// Outcome is what came of a case.
type Outcome struct {
	Case   string `json:"case"`
	Passed bool   `json:"passed"`
	// Why is the error; empty when the case passed.
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Cases are all of them, in the order in which they run.
func Cases() []Case {
	var cases []Case
	cases = append(cases, answers...)
	cases = append(cases, pieces...)
	cases = append(cases, bodies...)
	cases = append(cases, closing...)
	cases = append(cases, refusals...)
	return append(cases, afterwards...)
}

// Run runs all cases against the server at HOST:PORT, one after the other. A case of which a connection takes longer than the
// patience has failed.
func Run(address string, patience time.Duration) []Outcome {
	peer := &peer{address: address, patience: patience}
	var outcomes []Outcome
	for _, test := range Cases() {
		start := time.Now()
		err := test.against(peer)
		outcome := Outcome{Case: test.Name, Passed: err == nil, Seconds: time.Since(start).Seconds()}
		if err != nil {
			outcome.Why = fmt.Sprintf("%v (%s)", err, test.About)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

// against runs the case. What a plain GET gets is asked once.
func (test Case) against(peer *peer) error {
	if err := peer.learn(); err != nil {
		return err
	}
	return test.run(peer)
}
