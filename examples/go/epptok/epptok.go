// Package epptok calls libepptok: the token ids of an OpenAI-style request, as the engine will compute them.
//
// All memory is Go's: the library borrows the body and writes the ids into a slice, for the length of one call.
package epptok

// #cgo LDFLAGS: -lepptok
// #include <epptok.h>
// #include <stdlib.h>
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// Status is an epptok_status of include/epptok.h.
type Status uint32

// The statuses that callers tell apart; the header has all of them.
const (
	InvalidHandle  Status = C.EPPTOK_INVALID_HANDLE
	Timeout        Status = C.EPPTOK_TIMEOUT
	Backpressure   Status = C.EPPTOK_BACKPRESSURE
	Cancelled      Status = C.EPPTOK_CANCELLED
	InvalidRequest Status = C.EPPTOK_INVALID_REQUEST
	UnknownModel   Status = C.EPPTOK_UNKNOWN_MODEL
	ContextTooLong Status = C.EPPTOK_CONTEXT_TOO_LONG
	Unavailable    Status = C.EPPTOK_UNAVAILABLE
	ShuttingDown   Status = C.EPPTOK_SHUTTING_DOWN
)

func (s Status) String() string { return C.GoString(C.epptok_status_name(C.epptok_status(s))) }

// Error is a call that failed. errors.Is finds context.DeadlineExceeded in a Timeout, context.Canceled in a Cancelled.
type Error struct {
	Code    Status
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("epptok: %s: %s", e.Code, e.Message) }

func (e *Error) Unwrap() error {
	switch e.Code {
	case Timeout:
		return context.DeadlineExceeded
	case Cancelled:
		return context.Canceled
	}
	return nil
}

// Options says what to open: a model directory for a private runtime, or the socket of a running `epptok serve`.
type Options struct {
	Model      string
	SocketPath string
	Threads    uint32
}

// Tokenizer may be used by any number of goroutines at once.
type Tokenizer struct {
	handle *C.epptok
	calls  atomic.Uint64
}

// Open waits until the models are warm.
func Open(options Options) (*Tokenizer, error) {
	opened := C.epptok_options{struct_size: C.sizeof_epptok_options, abi_version: C.EPPTOK_ABI_VERSION}
	opened.threads = C.uint32_t(options.Threads)
	if options.SocketPath != "" {
		opened.socket_path = C.CString(options.SocketPath)
		defer C.free(unsafe.Pointer(opened.socket_path))
	} else {
		opened.model = C.CString(options.Model)
		defer C.free(unsafe.Pointer(opened.model))
	}
	t := &Tokenizer{}
	var message [256]C.char
	if status := C.epptok_open(&opened, &t.handle, &message[0], C.size_t(len(message))); status != C.EPPTOK_OK {
		return nil, &Error{Status(status), C.GoString(&message[0])}
	}
	return t, nil
}

// Close answers calls in flight with ShuttingDown and waits for them to return.
func (t *Tokenizer) Close() { C.epptok_close(t.handle) }

// region tokenize

// Tokenize returns the ids of one request body, those of a batch one after the other. The deadline of ctx is the call's, else
// the handle's default of 30 s is; when ctx is cancelled the call returns at once.
func (t *Tokenizer) Tokenize(ctx context.Context, body []byte) ([]uint32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	request := C.epptok_request{struct_size: C.sizeof_epptok_request, length: C.size_t(len(body))}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	if len(body) > 0 {
		pinner.Pin(&body[0])
		request.body = unsafe.Pointer(&body[0])
	}
	request.call_id = C.uint64_t(t.calls.Add(1))
	defer t.cancelWith(ctx, request.call_id)()

	// A token is rarely less than a byte of the body; the rest is for what the chat template adds.
	ids := make([]uint32, len(body)+1024)
	for {
		request.timeout_ms = 0
		if deadline, ok := ctx.Deadline(); ok {
			left := time.Until(deadline)
			if left <= 0 {
				return nil, context.DeadlineExceeded
			}
			request.timeout_ms = C.uint32_t(min(left.Milliseconds()+1, 1<<31-1))
		}
		var count C.size_t
		var message [256]C.char
		status := C.epptok_tokenize_into(t.handle, &request, (*C.uint32_t)(&ids[0]), C.size_t(len(ids)), &count,
			&message[0], C.size_t(len(message)))
		switch status {
		case C.EPPTOK_OK:
			return slices.Clone(ids[:count]), nil
		case C.EPPTOK_BUFFER_TOO_SMALL:
			ids = make([]uint32, count)
		default:
			return nil, &Error{Status(status), C.GoString(&message[0])}
		}
	}
}

// endregion

// cancelWith cancels the call of that id when ctx is cancelled, until the function that it returns is called. Its deadline is left to
// the library, which answers Timeout.
func (t *Tokenizer) cancelWith(ctx context.Context, id C.uint64_t) func() {
	var returned atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		// ctx may be done before the call has begun, and then there is nothing to cancel yet.
		for ctx.Err() == context.Canceled && !returned.Load() && C.epptok_cancel(t.handle, id) != C.EPPTOK_OK {
			time.Sleep(time.Millisecond)
		}
	})
	return func() {
		returned.Store(true)
		stop()
	}
}
