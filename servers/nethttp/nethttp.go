// Package nethttp is Go's own server: a goroutine for each connection, and one more while a request is answered.
package nethttp

import (
	"flag"
	"net"
	"net/http"

	"truebench/servers/internal/handler"
	"truebench/servers/internal/subject"
)

// Subject is net/http.
var Subject = subject.Subject{
	Name:  "nethttp",
	About: "net/http: a goroutine for each connection, and another that watches it while a request is answered",
	New:   func(*flag.FlagSet) subject.Serve { return serve },
}

func serve(address string, cost handler.Cost, ready func(net.Addr)) error {
	listener, err := subject.Listen(address)
	if err != nil {
		return err
	}
	ready(listener.Addr())
	server := http.Server{Handler: handler.NetHTTP(cost), MaxHeaderBytes: handler.MostHead}
	return server.Serve(listener)
}
