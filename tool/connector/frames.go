package connector

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Frames is an [mcp.Connection] over two streams, one message a line. Beside the SDK, which
// reads and writes messages, calls can be made on it that keep their bytes: their answers
// do not reach the SDK.
type Frames struct {
	// Hear is given requests and notifications as they come, before any answer that comes
	// later, and says whether it took them. Set it before the first Read; nil takes none.
	Hear func(*jsonrpc.Request) bool
	// HearCall is given calls of tools that are written as usual, in the same way. What it
	// does not take is for Hear and the SDK.
	HearCall func(ToolCall) bool
	// Mark makes a line safe before it is read, if it is not nil.
	Mark func(line []byte) []byte

	in  *bufio.Reader
	max int
	bad func(why error)
	end func() error

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	next    int
	waiting map[string]chan answer
	ended   error // why nothing more is read
	closed  sync.Once
}

var _ mcp.Connection = (*Frames)(nil)

// An answer is what came back for a call.
type answer struct {
	result json.RawMessage
	err    error
}

// NewFrames returns a connection. Lines that are no message are passed over and told to
// bad; one of more than max bytes ends the connection. End ends the streams.
func NewFrames(in io.Reader, out io.Writer, max int, bad func(why error), end func() error) *Frames {
	return &Frames{in: bufio.NewReaderSize(in, 64<<10), max: max, bad: bad, end: end, out: out,
		waiting: map[string]chan answer{}}
}

// ownID begins the ids of calls that are ours and not the SDK's.
const ownID = "assent-"

// SessionID is empty: streams have no sessions.
func (f *Frames) SessionID() string { return "" }

// Read returns the next message for the SDK.
func (f *Frames) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := f.ReadLine()
		if err != nil {
			return nil, err
		}
		if f.takeRaw(line) || f.hearRaw(line) {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			f.bad(fmt.Errorf("a line of %d bytes is no message: %w", len(line), err))
			continue
		}
		switch m := msg.(type) {
		case *jsonrpc.Response:
			if f.take(m) {
				continue
			}
		case *jsonrpc.Request:
			if f.Hear != nil && f.Hear(m) {
				continue
			}
		}
		return msg, nil
	}
}

// ReadLine returns the next line that is not empty, without its end. The bytes are the
// caller's. After an error every call that waits has failed.
func (f *Frames) ReadLine() ([]byte, error) {
	for {
		line, err := f.line()
		if err != nil {
			f.fail(err)
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if f.Mark != nil {
			line = f.Mark(line)
		}
		return line, nil
	}
}

func (f *Frames) line() ([]byte, error) {
	var line []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if len(line)+len(part) > f.max {
			return nil, fmt.Errorf("a message has more than %d bytes", f.max)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // what stands before the end without a newline is half a message
		}
	}
}

// takeRaw takes the result of a call of ours without reading more of it than its envelope.
// Whatever is not as usual is left to be read with care.
func (f *Frames) takeRaw(line []byte) bool {
	if !bytes.Contains(line[:min(len(line), 60)], []byte(ownID)) &&
		!bytes.Contains(line[max(0, len(line)-60):], []byte(ownID)) {
		return false
	}
	e, usual := openEnvelope(line)
	if !usual || e.method != nil || e.result == nil || e.id[0] != '"' {
		return false
	}
	id := string(e.id[1 : len(e.id)-1])
	f.mu.Lock()
	waiting, there := f.waiting[id]
	delete(f.waiting, id)
	f.mu.Unlock()
	if there {
		waiting <- answer{result: e.result}
	}
	return there
}

// hearRaw has a call of a tool heard without reading more of it than its envelope.
func (f *Frames) hearRaw(line []byte) bool {
	if f.HearCall == nil || !bytes.Contains(line, []byte(`"tools/call"`)) {
		return false
	}
	e, usual := openEnvelope(line)
	if !usual {
		return false
	}
	call, usual := e.toolCall()
	return usual && f.HearCall(call)
}

// take hands an answer to the call of ours that waits for it. A second answer, and one to
// a call that nobody made, is dropped.
func (f *Frames) take(r *jsonrpc.Response) bool {
	id, ok := r.ID.Raw().(string)
	if !ok || !strings.HasPrefix(id, ownID) {
		return false
	}
	f.mu.Lock()
	waiting, there := f.waiting[id]
	delete(f.waiting, id)
	f.mu.Unlock()
	if !there {
		f.bad(fmt.Errorf("it answered %q, which nobody asked or which was answered", id))
		return true
	}
	waiting <- answer{r.Result, r.Error}
	return true
}

// Write writes a message of the SDK.
func (f *Frames) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return f.WriteLine(data)
}

// WriteLine writes a line. It is safe for concurrent use.
func (f *Frames) WriteLine(data []byte) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	_, err := f.out.Write(append(data, '\n'))
	return err
}

// Call makes a call with these parameters, byte for byte, and returns its result as it
// came. An error that the other side answers is a [*jsonrpc.Error]. If ctx is done the
// other side is told, and nobody waits for it any more.
func (f *Frames) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	id, waiting, err := f.expect()
	if err != nil {
		return nil, err
	}
	frame := make([]byte, 0, len(params)+len(method)+80)
	frame = append(frame, `{"jsonrpc":"2.0","id":"`+id+`","method":"`+method+`","params":`...)
	frame = append(append(frame, params...), '}')
	if err := f.WriteLine(frame); err != nil {
		f.forget(id)
		return nil, fmt.Errorf("it cannot be written to: %w", err)
	}
	select {
	case a := <-waiting:
		return a.result, a.err
	case <-ctx.Done():
		f.forget(id)
		// It may have ended; then nobody is there to be told.
		_ = f.WriteLine([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"` + id + `"}}`))
		return nil, context.Cause(ctx)
	}
}

// expect registers a call before it is sent.
func (f *Frames) expect() (string, chan answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil {
		return "", nil, f.ended
	}
	f.next++
	id, waiting := ownID+strconv.Itoa(f.next), make(chan answer, 1)
	f.waiting[id] = waiting
	return id, waiting, nil
}

func (f *Frames) forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, id)
}

// errEnded says that a server went away while a call was under way.
var errEnded = errors.New("the connection ended before the answer came")

// fail ends every call that waits.
func (f *Frames) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = fmt.Errorf("%w: %w", errEnded, err)
	}
	for id, waiting := range f.waiting {
		waiting <- answer{err: f.ended}
		delete(f.waiting, id)
	}
}

// over reports whether nothing more is read.
func (f *Frames) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended != nil
}

// why says why nothing more is read, if it is not that the stream ended.
func (f *Frames) why() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil || errors.Is(f.ended, io.EOF) || errors.Is(f.ended, os.ErrClosed) ||
		errors.Is(f.ended, os.ErrDeadlineExceeded) {
		return nil
	}
	return f.ended
}

// Close ends the connection.
func (f *Frames) Close() (err error) {
	f.closed.Do(func() { err = f.end() })
	return err
}
