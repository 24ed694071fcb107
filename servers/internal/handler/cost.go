// Package handler is what every server does with a request: it pays a set cost and says "Hello, Go!".
package handler

import (
	"flag"
	"fmt"
	"math/bits"
	"time"
)

// Cost is what a request costs a server in addition to HTTP itself. It is paid in rounds of arithmetic, not until a clock says so: a
// thread that is preempted then pays no less, and servers that were given the same number of rounds did the same work.
type Cost struct {
	// Burn is the CPU time that was asked for: 0 or more.
	Burn time.Duration `json:"burn_ns"`
	// Rounds is the number of rounds of arithmetic that Burn comes to.
	Rounds uint64 `json:"rounds"`
	// Sleep is how long a request waits, without using a CPU: 0 or more.
	Sleep time.Duration `json:"sleep_ns"`
}

// Declare declares the cost's flags. Settle must be called once they are parsed.
func (cost *Cost) Declare(flags *flag.FlagSet) {
	flags.DurationVar(&cost.Burn, "cost", 0, "CPU `time` that a request costs in addition to HTTP, such as 20us")
	flags.Uint64Var(&cost.Rounds, "cost-rounds", 0,
		"the same as a `number` of rounds, in place of finding out how many -cost comes to: what another server printed")
	flags.DurationVar(&cost.Sleep, "sleep", 0, "`time` that a request waits without using a CPU, such as 5ms")
}

// Settle finds the rounds that Burn comes to on this machine, unless they were given.
func (cost *Cost) Settle() error {
	if cost.Burn < 0 || cost.Sleep < 0 {
		return fmt.Errorf("-cost %v and -sleep %v: neither can be below 0", cost.Burn, cost.Sleep)
	}
	if cost.Rounds == 0 && cost.Burn > 0 {
		cost.Rounds = roundsIn(cost.Burn)
	}
	return nil
}

// Pay pays the cost.
func (cost Cost) Pay() {
	if cost.Rounds > 0 {
		sink(churn(cost.Rounds))
	}
	if cost.Sleep > 0 {
		time.Sleep(cost.Sleep)
	}
}

const (
	// trial is the number of rounds that are timed: some 0.1 ms, so that a clock's reading does not matter.
	trial = 50_000
	// trials is how often. The fastest is believed: whatever disturbs makes them slower.
	trials = 50
)

func roundsIn(burn time.Duration) uint64 {
	fastest := time.Duration(1 << 62)
	for range trials {
		start := time.Now()
		sink(churn(trial))
		fastest = min(fastest, time.Since(start))
	}
	return max(1, uint64(float64(burn)/float64(max(fastest, 1))*trial))
}

// churn is a chain in which each round needs the one before, in registers alone.
func churn(rounds uint64) uint64 {
	state := uint64(0x9e3779b97f4a7c15)
	for range rounds {
		state = bits.RotateLeft64(state*0xd6e8feb86659fd93, 29) ^ 0x2545f4914f6cdd1d
	}
	return state
}

// sink keeps the compiler from removing an unused result.
//
//go:noinline
func sink(uint64) {}
