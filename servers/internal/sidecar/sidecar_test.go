package sidecar

import (
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

func get(t *testing.T, address, path string) []byte {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
	return body
}

func open(t *testing.T) string {
	t.Helper()
	address, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return address.String()
}

// shown are the metrics at an address.
func shown(t *testing.T, address string) map[string]json.RawMessage {
	t.Helper()
	var all struct {
		Runtime  map[string]json.RawMessage `json:"runtime"`
		MemStats json.RawMessage            `json:"memstats"`
	}
	if err := json.Unmarshal(get(t, address, "/debug/vars"), &all); err != nil {
		t.Fatal(err)
	}
	if all.MemStats != nil {
		t.Error("memstats is shown: reading it stops the world")
	}
	return all.Runtime
}

func number(t *testing.T, metrics map[string]json.RawMessage, name string) float64 {
	t.Helper()
	var value float64
	if err := json.Unmarshal(metrics[name], &value); err != nil {
		t.Fatalf("%s is %q: %v", name, metrics[name], err)
	}
	return value
}

func TestAllThatIsPublishedIsThere(t *testing.T) {
	metrics := shown(t, open(t))
	for _, name := range published {
		if metrics[name] == nil {
			t.Errorf("this Go has no %s", name)
		}
	}
}

func TestGoroutinesAreCounted(t *testing.T) {
	const more = 1000
	address := open(t)
	before := shown(t, address)
	release := make(chan struct{})
	var all sync.WaitGroup
	for range more {
		all.Go(func() { <-release })
	}
	during := shown(t, address)
	close(release)
	all.Wait()
	for _, name := range []string{"/sched/goroutines:goroutines", "/sched/goroutines-created:goroutines"} {
		if grown := number(t, during, name) - number(t, before, name); grown < more/2 || grown > more*2 {
			t.Errorf("%s grew by %v for %d", name, grown, more)
		}
	}
}

func TestLatenciesAreBucketsThatGrow(t *testing.T) {
	address := open(t)
	count := func() (count uint64) {
		var buckets []bucket
		if err := json.Unmarshal(shown(t, address)["/sched/latencies:seconds"], &buckets); err != nil {
			t.Fatal(err)
		}
		for index, bucket := range buckets {
			if bucket.Low != nil && bucket.High != nil && *bucket.Low >= *bucket.High {
				t.Errorf("bucket %d ends at %v and begins at %v", index, *bucket.High, *bucket.Low)
			}
			count += bucket.Count
		}
		return count
	}
	before := count()
	var all sync.WaitGroup
	for range 10_000 {
		all.Go(runtime.Gosched)
	}
	all.Wait()
	if after := count(); after <= before {
		t.Errorf("%d waits before, %d after", before, after)
	}
}

func TestGCRunsOne(t *testing.T) {
	address := open(t)
	before := number(t, shown(t, address), "/gc/cycles/total:gc-cycles")
	response, err := http.Post("http://"+address+"/gc", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if after := number(t, shown(t, address), "/gc/cycles/total:gc-cycles"); after <= before {
		t.Errorf("%v collections before, %v after", before, after)
	}
	response, err = http.Get("http://" + address + "/gc")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET /gc: %s", response.Status)
	}
}

func TestMemstats(t *testing.T) {
	var stats runtime.MemStats
	if err := json.Unmarshal(get(t, open(t), "/debug/memstats"), &stats); err != nil || stats.Mallocs == 0 {
		t.Errorf("%d mallocs, %v", stats.Mallocs, err)
	}
}

func TestProfileIsOne(t *testing.T) {
	start := time.Now()
	profile := get(t, open(t), "/debug/pprof/profile?seconds=1")
	if taken := time.Since(start); taken < time.Second {
		t.Errorf("a profile of a second took %v", taken)
	}
	if len(profile) < 2 || profile[0] != 0x1f || profile[1] != 0x8b {
		t.Errorf("%d bytes that are not of gzip", len(profile))
	}
}

func TestTakenAddressIsTold(t *testing.T) {
	if address, err := Start(open(t)); err == nil {
		t.Errorf("two at %v", address)
	}
}
