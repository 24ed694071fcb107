// Package fasthttp is fasthttp's own server: a pool of goroutines, each of which keeps a connection until it closes.
package fasthttp

import (
	"flag"
	"net"

	"github.com/valyala/fasthttp"

	"truebench/servers/internal/handler"
	"truebench/servers/internal/subject"
)

// Subject is fasthttp.
var Subject = subject.Subject{
	Name:    "fasthttp",
	About:   "fasthttp: goroutines of a pool, each of which keeps its connection until it closes",
	Modules: []string{"github.com/valyala/fasthttp"},
	New: func(flags *flag.FlagSet) subject.Serve {
		concurrency := flags.Int("concurrency", fasthttp.DefaultConcurrency,
			"`number` of connections that are served; more are answered 503 and closed")
		return func(address string, cost handler.Cost, ready func(net.Addr)) error {
			return serve(address, cost, *concurrency, ready)
		}
	},
}

func serve(address string, cost handler.Cost, concurrency int, ready func(net.Addr)) error {
	listener, err := subject.Listen(address)
	if err != nil {
		return err
	}
	ready(listener.Addr())
	server := fasthttp.Server{
		Handler:      handler.FastHTTP(cost),
		ErrorHandler: handler.Refuse,
		Concurrency:  concurrency,
		// net/http sends no Server header.
		NoDefaultServerHeader: true,
		// net/http leaves a body's contents alone.
		DisablePreParseMultipartForm: true,
		// net/http does not log what clients did wrong; writing it would be work.
		Logger: silent{},
	}
	return server.Serve(listener)
}

type silent struct{}

func (silent) Printf(string, ...any) {}
