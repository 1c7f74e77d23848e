package server

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// bodyTime is how long a caller may take to send a call.
const bodyTime = 30 * time.Second

// A budget bounds the memory that all calls take together while they are read and stored.
type budget struct {
	each int // how much the calls of one caller may take

	mu   sync.Mutex
	left int
	by   map[string]int // how much callers have taken
}

func newBudget(bytes, each int) *budget {
	return &budget{each: each, left: bytes, by: map[string]int{}}
}

func (b *budget) take(caller string, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left || n > b.each-b.by[caller] {
		return false
	}
	b.left -= n
	b.by[caller] += n
	return true
}

func (b *budget) give(caller string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
	if b.by[caller] -= n; b.by[caller] == 0 {
		delete(b.by, caller)
	}
}

func (b *budget) free() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(b.left)
}

// firstRead is how much is taken for a call before any of it has come. More is taken as it comes, so that a
// caller who announces much and sends nothing holds little.
const firstRead = 16 << 10

// read reads the body of a call. It is given back with done once it is not used any more.
func (b *budget) read(w http.ResponseWriter, r *http.Request, caller string, most int) (body []byte, done func(), err error) {
	switch {
	case r.ContentLength < 0:
		return nil, nil, refuse(http.StatusLengthRequired, "the call must say how long it is")
	case r.ContentLength > int64(most):
		return nil, nil, refuse(http.StatusRequestEntityTooLarge, "the call has %d bytes; at most %d are taken", r.ContentLength, most)
	}
	length, taken := int(r.ContentLength), 0
	done = func() { b.give(caller, taken) }
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTime))
	for size := min(length, firstRead); ; size = min(length, 4*size) {
		if !b.take(caller, size-taken) {
			done()
			return nil, nil, busy("the server has as many calls in hand as it can; try again")
		}
		taken = size
		grown := make([]byte, size)
		have := copy(grown, body)
		if _, err := io.ReadFull(r.Body, grown[have:]); err != nil {
			done()
			return nil, nil, refuse(http.StatusRequestTimeout, "the call did not come as a whole")
		}
		if body = grown; size == length {
			break
		}
	}
	if n, err := r.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		done()
		return nil, nil, refuse(http.StatusBadRequest, "the call is longer than it says")
	}
	_ = deadline.SetReadDeadline(time.Time{})
	return body, done, nil
}
