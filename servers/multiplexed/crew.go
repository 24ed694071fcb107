package multiplexed

import (
	"log"
	"sync"

	"github.com/panjf2000/ants/v2"
	"github.com/panjf2000/gnet/v2"
	"github.com/valyala/fasthttp"
)

// crew is a bounded number of workers and the requests that wait for one, first come, first served. The queue is this package's, since
// ants' own would hold up the loop that asks for a worker, and with it every answer that is ready to be written. It is no longer
// than there are connections.
type crew struct {
	pool   *ants.Pool
	handle fasthttp.RequestHandler

	mutex       sync.Mutex
	free        int
	first, last *exchange
}

func newCrew(workers int, handle fasthttp.RequestHandler) (*crew, error) {
	pool, err := ants.NewPool(workers, ants.WithDisablePurge(true),
		// As in fasthttp, a handler's panic ends the program.
		ants.WithPanicHandler(func(reason any) { log.Panic(reason) }))
	if err != nil {
		return nil, err
	}
	return &crew{pool: pool, handle: handle, free: workers}, nil
}

// take has a complete request answered.
func (crew *crew) take(exchange *exchange) {
	if exchange.run == nil {
		// Once for all requests that this exchange will serve; the program has one crew.
		exchange.run = func() { crew.work(exchange) }
		exchange.written = func(conn gnet.Conn, err error) error {
			exchange.connection.answered(conn, exchange, err)
			return nil
		}
	}
	crew.mutex.Lock()
	if crew.free == 0 {
		if crew.first == nil {
			crew.first = exchange
		} else {
			crew.last.next = exchange
		}
		crew.last = exchange
		crew.mutex.Unlock()
		return
	}
	crew.free--
	crew.mutex.Unlock()
	// A worker is free, or about to return to its pool. The pool is never closed.
	if err := crew.pool.Submit(exchange.run); err != nil {
		log.Panic(err)
	}
}

// work answers a request, and then those that wait.
func (crew *crew) work(exchange *exchange) {
	for exchange != nil {
		exchange.answer(crew.handle)
		// From here on the exchange is the loop's.
		if err := exchange.connection.AsyncWrite(exchange.output(), exchange.written); err != nil {
			log.Printf("multiplexed: an answer was lost: %v", err)
		}
		exchange = crew.next()
	}
}

// next is the request that waits longest; nil: none, and the worker is free.
func (crew *crew) next() *exchange {
	crew.mutex.Lock()
	defer crew.mutex.Unlock()
	exchange := crew.first
	if exchange == nil {
		crew.free++
		return nil
	}
	crew.first, exchange.next = exchange.next, nil
	return exchange
}
