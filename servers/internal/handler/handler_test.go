package handler

import (
	"testing"
	"time"
)

func TestRoundsFollowTheCost(t *testing.T) {
	small, large := Cost{Burn: 20 * time.Microsecond}, Cost{Burn: 2 * time.Millisecond}
	for _, cost := range []*Cost{&small, &large} {
		if err := cost.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	// 100 times the time; each was found by a trial of its own.
	if ratio := float64(large.Rounds) / float64(small.Rounds); ratio < 25 || ratio > 400 {
		t.Errorf("%d rounds for %v, %d for %v", small.Rounds, small.Burn, large.Rounds, large.Burn)
	}
	start := time.Now()
	large.Pay()
	if taken := time.Since(start); taken < large.Burn/4 {
		t.Errorf("%v paid in %v", large.Burn, taken)
	}
}

func TestGivenRoundsAreKept(t *testing.T) {
	cost := Cost{Burn: 20 * time.Microsecond, Rounds: 7}
	if err := cost.Settle(); err != nil || cost.Rounds != 7 {
		t.Errorf("%d rounds, %v", cost.Rounds, err)
	}
}

func TestNoCostIsNoRounds(t *testing.T) {
	var cost Cost
	if err := cost.Settle(); err != nil || cost.Rounds != 0 {
		t.Errorf("%d rounds, %v", cost.Rounds, err)
	}
}

func TestNegativeCostsAreRefused(t *testing.T) {
	for _, cost := range []Cost{{Burn: -1}, {Sleep: -1}} {
		if cost.Settle() == nil {
			t.Errorf("%+v was taken", cost)
		}
	}
}

func TestSleepSleeps(t *testing.T) {
	start := time.Now()
	Cost{Sleep: 20 * time.Millisecond}.Pay()
	if taken := time.Since(start); taken < 20*time.Millisecond {
		t.Errorf("slept %v", taken)
	}
}
