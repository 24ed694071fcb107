// Package multiplexed serves many connections from each goroutine: gnet's event loops, with fasthttp's parser and responses, so
// that against fasthttp only the way of waiting for input differs.
//
// A request is answered on its connection's loop, or by one of a bounded number of workers. A worker holds a request, not a
// connection, and a connection has at most one request with a worker: so answers keep their order, and no connection waits for
// another that is idle.
//
// In addition to fasthttp's limits it has one of its own: a client that shuts down its sending half before it has its answer may not
// get it where workers answer, since gnet closes a connection at the end of its input.
package multiplexed

import (
	"flag"
	"fmt"
	"log"
	"net"
	"runtime"

	"github.com/panjf2000/gnet/v2"
	"github.com/valyala/fasthttp"

	"truebench/servers/internal/handler"
	"truebench/servers/internal/subject"
)

// Subject is gnet with fasthttp's parser.
var Subject = subject.Subject{
	Name:    "multiplexed",
	About:   "gnet's event loops with fasthttp's parser: each loop serves many connections, alone or with -pool N workers",
	Modules: []string{"github.com/panjf2000/gnet/v2", "github.com/panjf2000/ants/v2", "github.com/valyala/fasthttp"},
	New: func(flags *flag.FlagSet) subject.Serve {
		var options options
		flags.IntVar(&options.loops, "loops", 0, "`number` of event loops; 0: GOMAXPROCS")
		flags.IntVar(&options.workers, "pool", 0, "`number` of workers that answer requests; 0: the loops answer")
		flags.BoolVar(&options.lockThreads, "lock-threads", false, "give each loop a thread of its own (LockOSThread)")
		flags.BoolVar(&options.reusePort, "reuse-port", false, "let each loop accept, at a listener of its own (SO_REUSEPORT)")
		flags.BoolVar(&options.edgeTriggered, "edge-triggered", false, "use edge-triggered epoll")
		return options.serve
	},
}

type options struct {
	loops, workers                        int
	lockThreads, reusePort, edgeTriggered bool
}

func (options *options) serve(address string, cost handler.Cost, ready func(net.Addr)) error {
	if options.loops < 0 || options.workers < 0 {
		return fmt.Errorf("-loops %d and -pool %d: neither can be below 0", options.loops, options.workers)
	}
	loops := options.loops
	if loops == 0 {
		loops = runtime.GOMAXPROCS(0)
	}
	bound, release, err := reserve(address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	server := &server{handle: handler.FastHTTP(cost), ready: func() { release(); ready(bound) }}
	if options.workers > 0 {
		if server.crew, err = newCrew(options.workers, server.handle); err != nil {
			return err
		}
	}
	return gnet.Run(server, "tcp://"+bound.String(),
		gnet.WithNumEventLoop(loops),
		gnet.WithLockOSThread(options.lockThreads),
		gnet.WithReuseAddr(true),
		gnet.WithReusePort(options.reusePort),
		gnet.WithEdgeTriggeredIO(options.edgeTriggered),
		gnet.WithLogger(logger{}))
}

// server is what gnet calls.
type server struct {
	gnet.BuiltinEventEngine
	handle fasthttp.RequestHandler
	crew   *crew // nil: the loops answer
	ready  func()
}

// OnBoot is called once the listeners are there, and before connections are accepted.
func (server *server) OnBoot(gnet.Engine) gnet.Action {
	server.ready()
	return gnet.None
}

// OnOpen is called on the loop that has the new connection.
func (server *server) OnOpen(conn gnet.Conn) ([]byte, gnet.Action) {
	conn.SetContext(&connection{Conn: conn, server: server})
	return nil, gnet.None
}

// OnTraffic is called on a connection's loop when it has input.
func (server *server) OnTraffic(conn gnet.Conn) gnet.Action {
	connection := conn.Context().(*connection)
	if server.crew == nil {
		return connection.answerAll()
	}
	return connection.handOver()
}

// logger sends what gnet has to say to standard error, where it is of use: standard output belongs to the program.
type logger struct{}

func (logger) Debugf(string, ...any)               {}
func (logger) Infof(string, ...any)                {}
func (logger) Warnf(format string, values ...any)  { log.Printf("gnet: "+format, values...) }
func (logger) Errorf(format string, values ...any) { log.Printf("gnet: "+format, values...) }
func (logger) Fatalf(format string, values ...any) { log.Fatalf("gnet: "+format, values...) }
