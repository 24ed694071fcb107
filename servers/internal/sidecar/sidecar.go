// Package sidecar shows a server's inside on a port of its own, so that watching it uses none of the connections under load.
//
//	GET  /debug/pprof/...    net/http/pprof: profile, trace, goroutine, heap, ...
//	GET  /debug/vars         expvar: "runtime" holds the metrics in metrics.go; reading it stops no goroutine
//	GET  /debug/memstats     runtime.MemStats, which stops the world: before and after a measurement, not within
//	POST /gc                 a full garbage collection; answers when it is done
package sidecar

import (
	"encoding/json"
	"expvar"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
)

// Start serves at an address (its port may be 0: any) until the process ends, and returns the address.
//
// It fails when it cannot listen there.
func Start(address string) (net.Addr, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	// It ends only with the process.
	go func() { _ = http.Serve(listener, handler()) }()
	return listener.Addr(), nil
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/vars", variables)
	mux.HandleFunc("GET /debug/memstats", memstats)
	mux.HandleFunc("POST /gc", func(http.ResponseWriter, *http.Request) { runtime.GC() })
	return mux
}

// stopsTheWorld is the variable that expvar publishes by itself, and that costs a stop of the world to read.
const stopsTheWorld = "memstats"

// variables is expvar.Handler without the variable that stops the world.
func variables(response http.ResponseWriter, _ *http.Request) {
	response.Header().Set("Content-Type", "application/json; charset=utf-8")
	separator := "{\n"
	expvar.Do(func(variable expvar.KeyValue) {
		if variable.Key == stopsTheWorld {
			return
		}
		fmt.Fprintf(response, "%s%q: %s", separator, variable.Key, variable.Value)
		separator = ",\n"
	})
	fmt.Fprint(response, "\n}\n")
}

func memstats(response http.ResponseWriter, _ *http.Request) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	response.Header().Set("Content-Type", "application/json; charset=utf-8")
	// No client is left to report an error to.
	_ = json.NewEncoder(response).Encode(&stats)
}
