package multiplexed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"

	"github.com/panjf2000/gnet/v2"
	"github.com/valyala/fasthttp"

	"truebench/servers/internal/handler"
)

// exchange is a request and its answer. It belongs to no connection until it has a complete request, so an idle connection
// costs none of its buffers.
type exchange struct {
	ctx    fasthttp.RequestCtx
	uri    fasthttp.URI
	source source
	reader *bufio.Reader
	writer *bufio.Writer
	buffer bytes.Buffer
	// last: the connection closes after this answer.
	last bool

	connection *connection        // where a worker answers
	next       *exchange          // that waits for a worker
	run        func()             // has a worker answer this one, and those that wait
	written    gnet.AsyncCallback // notifies the connection that the answer was written
}

var idle = sync.Pool{New: func() any {
	exchange := &exchange{}
	// Who the client is does not matter to the handler.
	exchange.ctx.Init2(nil, log.New(os.Stderr, "", log.LstdFlags), false)
	exchange.reader = bufio.NewReaderSize(&exchange.source, handler.MostHead)
	exchange.writer = bufio.NewWriter(&exchange.buffer)
	return exchange
}}

func (exchange *exchange) release() {
	exchange.source.bytes = nil
	exchange.connection, exchange.next = nil, nil
	exchange.buffer.Reset()
	exchange.writer.Reset(&exchange.buffer)
	idle.Put(exchange)
}

// state is what was found at the beginning of some input.
type state int

const (
	incomplete     state = iota // not all of a request
	awaitsContinue              // a head; the client waits for 100 Continue to send the body
	complete                    // a request
	refused                     // what cannot be one, or is too long
)

// read is what was made of some input.
type read struct {
	state state
	// used is the number of bytes that the request has; with all other states 0.
	used int
	// needed is the number of bytes below which an incomplete request is still incomplete; 0: not known.
	needed int
	err    error
}

// read reads the request at the beginning of the input, by fasthttp's parser. That parser reads a stream; here the stream runs
// dry where the input ends. Any error then comes from missing bytes: the request is incomplete, and is read anew once
// there are more. The input is not stored.
func (exchange *exchange) read(input []byte, continued bool) read {
	exchange.source = source{bytes: input}
	exchange.reader.Reset(&exchange.source)
	request := &exchange.ctx.Request
	request.Reset()
	if err := request.Header.Read(exchange.reader); err != nil {
		return exchange.unread(input, err)
	}
	head := exchange.used()
	if err := exchange.uri.Parse(request.Header.Host(), request.RequestURI()); err != nil {
		return read{state: refused, err: err}
	}
	length := request.Header.ContentLength()
	if length > handler.MostBody {
		return read{state: refused, err: fasthttp.ErrBodyTooLarge}
	}
	if request.MayContinue() && !continued {
		return read{state: awaitsContinue}
	}
	if length > 0 && head+length > len(input) {
		return read{state: incomplete, needed: head + length}
	}
	if err := request.ContinueReadBody(exchange.reader, handler.MostBody, false); err != nil {
		return exchange.unread(input, err)
	}
	return read{state: complete, used: exchange.used()}
}

func (exchange *exchange) used() int {
	return exchange.source.at - exchange.reader.Buffered()
}

func (exchange *exchange) unread(input []byte, err error) read {
	switch {
	case !exchange.source.dry:
		return read{state: refused, err: err}
	case len(input) > mostPending:
		return read{state: refused, err: fmt.Errorf("%w: %d bytes on the wire", fasthttp.ErrBodyTooLarge, len(input))}
	default:
		return read{state: incomplete}
	}
}

// answer lets the handler answer the request, and writes the answer as fasthttp's server does.
func (exchange *exchange) answer(handle fasthttp.RequestHandler) {
	ctx := &exchange.ctx
	ctx.Response.Reset()
	// Asked before the handler may change it.
	exchange.last = ctx.Request.Header.ConnectionClose()
	handle(ctx)
	ctx.Response.SkipBody = ctx.IsHead()
	exchange.last = exchange.last || ctx.Response.ConnectionClose()
	if exchange.last {
		ctx.Response.SetConnectionClose()
	} else if !ctx.Request.Header.IsHTTP11() {
		ctx.Response.Header.Set("Connection", "keep-alive")
	}
	exchange.write()
	ctx.ResetUserValues()
}

// refuse answers what is no request; the connection's last answer.
func (exchange *exchange) refuse(err error) {
	exchange.last = true
	exchange.ctx.Response.Reset()
	// fasthttp says so of input that is nothing but line ends.
	if errors.Is(err, io.EOF) {
		return
	}
	handler.Refuse(&exchange.ctx, err)
	exchange.ctx.Response.SetConnectionClose()
	exchange.write()
}

func (exchange *exchange) write() {
	if err := exchange.ctx.Response.Write(exchange.writer); err != nil {
		// The writer's buffer has no errors: it would be the handler's response that cannot be written.
		log.Printf("multiplexed: %v", err)
		exchange.last = true
	}
}

// output is all that was written; nil if it is nothing.
func (exchange *exchange) output() []byte {
	// The buffer has no errors.
	_ = exchange.writer.Flush()
	return exchange.buffer.Bytes()
}

// errDry is not io.EOF, of which fasthttp's parser takes some for a request's end.
var errDry = errors.New("no more input for now")

// source is input as a stream. It is dry once it was asked for more than it has.
type source struct {
	bytes []byte
	at    int
	dry   bool
}

func (source *source) Read(into []byte) (int, error) {
	if source.at == len(source.bytes) {
		source.dry = true
		return 0, errDry
	}
	count := copy(into, source.bytes[source.at:])
	source.at += count
	return count, nil
}
