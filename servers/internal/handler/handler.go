package handler

import (
	"errors"
	"io"
	"net/http"

	"github.com/valyala/fasthttp"
)

const (
	// Body is what every server answers.
	Body = "Hello, Go!"
	// ContentType is set by each server, so that none has to guess it from the body.
	ContentType = "text/plain; charset=utf-8"
	// MostHead is the number of bytes that a request's line and headers may have: fasthttp's own limit.
	MostHead = 4096
	// MostBody is the number of bytes that a request's body may have: fasthttp's own limit.
	MostBody = fasthttp.DefaultMaxRequestBodySize
)

var body = []byte(Body)

// NetHTTP answers in net/http. It reads a request's body, as fasthttp does before it calls a handler.
func NetHTTP(cost Cost) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.ContentLength != 0 {
			if status := readBody(response, request); status != http.StatusOK {
				response.Header().Set("Connection", "close")
				http.Error(response, http.StatusText(status), status)
				return
			}
		}
		cost.Pay()
		response.Header().Set("Content-Type", ContentType)
		// No client is left to report an error to.
		_, _ = response.Write(body)
	})
}

func readBody(response http.ResponseWriter, request *http.Request) int {
	if request.ContentLength > MostBody {
		return http.StatusRequestEntityTooLarge
	}
	_, err := io.Copy(io.Discard, http.MaxBytesReader(response, request.Body, MostBody))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusBadRequest
	}
}

// FastHTTP answers in fasthttp, and wherever fasthttp's requests and responses are used.
func FastHTTP(cost Cost) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		cost.Pay()
		ctx.SetContentType(ContentType)
		ctx.SetBody(body)
	}
}

// Refuse answers a request that fasthttp's parser did not take.
func Refuse(ctx *fasthttp.RequestCtx, err error) {
	var tooLong *fasthttp.ErrSmallBuffer
	status := fasthttp.StatusBadRequest
	switch {
	case errors.As(err, &tooLong):
		status = fasthttp.StatusRequestHeaderFieldsTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		status = fasthttp.StatusRequestEntityTooLarge
	}
	ctx.Error(fasthttp.StatusMessage(status), status)
}
