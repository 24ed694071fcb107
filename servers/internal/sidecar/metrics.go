package sidecar

import (
	"expvar"
	"math"
	"runtime/metrics"
	"sync"
)

// published are the metrics of package runtime/metrics that are shown, by their names there, where they are explained. Those
// below /cpu/classes are brought up to date by each garbage collection only.
var published = []string{
	"/sched/goroutines:goroutines",
	"/sched/goroutines/runnable:goroutines",
	"/sched/goroutines/running:goroutines",
	"/sched/goroutines/waiting:goroutines",
	"/sched/goroutines/not-in-go:goroutines",
	"/sched/goroutines-created:goroutines",
	"/sched/threads/total:threads",
	"/sched/gomaxprocs:threads",
	"/sched/latencies:seconds",
	"/sched/pauses/stopping/gc:seconds",
	"/sched/pauses/stopping/other:seconds",
	"/sched/pauses/total/gc:seconds",
	"/sched/pauses/total/other:seconds",
	"/cpu/classes/user:cpu-seconds",
	"/cpu/classes/idle:cpu-seconds",
	"/cpu/classes/total:cpu-seconds",
	"/cpu/classes/gc/total:cpu-seconds",
	"/cpu/classes/gc/mark/assist:cpu-seconds",
	"/cpu/classes/gc/mark/dedicated:cpu-seconds",
	"/cpu/classes/gc/mark/idle:cpu-seconds",
	"/cpu/classes/gc/pause:cpu-seconds",
	"/cpu/classes/scavenge/total:cpu-seconds",
	"/gc/cycles/total:gc-cycles",
	"/gc/gogc:percent",
	"/gc/gomemlimit:bytes",
	"/gc/heap/allocs:bytes",
	"/gc/heap/allocs:objects",
	"/gc/heap/goal:bytes",
	"/gc/heap/live:bytes",
	"/gc/stack/starting-size:bytes",
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/heap/free:bytes",
	"/memory/classes/heap/released:bytes",
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/heap/unused:bytes",
	"/memory/classes/os-stacks:bytes",
	"/memory/classes/total:bytes",
	"/sync/mutex/wait/total:seconds",
}

func init() {
	var reading sync.Mutex
	samples := make([]metrics.Sample, len(published))
	for index, name := range published {
		samples[index].Name = name
	}
	expvar.Publish("runtime", expvar.Func(func() any {
		reading.Lock()
		defer reading.Unlock()
		metrics.Read(samples)
		values := make(map[string]any, len(samples))
		for _, sample := range samples {
			if value := plain(sample.Value); value != nil {
				values[sample.Name] = value
			}
		}
		return values
	}))
}

// plain is a metric as JSON can hold it: a number, or the buckets of a histogram; nil for one that this Go does not know.
func plain(value metrics.Value) any {
	switch value.Kind() {
	case metrics.KindUint64:
		return value.Uint64()
	case metrics.KindFloat64:
		return value.Float64()
	case metrics.KindFloat64Histogram:
		return filled(value.Float64Histogram())
	default:
		return nil
	}
}

// bucket counts what lay in [Low, High). A bound that is missing is infinite.
type bucket struct {
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Count uint64   `json:"count"`
}

// filled are the buckets that hold something. Their bounds are the same at each reading, and their counts only grow.
func filled(histogram *metrics.Float64Histogram) []bucket {
	buckets := []bucket{}
	for index, count := range histogram.Counts {
		if count > 0 {
			buckets = append(buckets, bucket{
				Low:   finite(histogram.Buckets[index]),
				High:  finite(histogram.Buckets[index+1]),
				Count: count,
			})
		}
	}
	return buckets
}

func finite(bound float64) *float64 {
	if math.IsInf(bound, 0) {
		return nil
	}
	return &bound
}
