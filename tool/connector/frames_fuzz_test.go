package connector_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/assent-dev/assent/tool/connector"
)

// FuzzFrames reads whatever a server may send: it ends with the stream or at a message that
// is too long, and a call that waits is answered or fails.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":"assent-1","result":{"content":[]}}`,
		`{"jsonrpc":"2.0","id":"assent-1","error":{"code":-1,"message":"no"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"assent-1","progress":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`,
		"{}\n[]\nnull\n\x00\n{\"id\":{}}",
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		sending := make(chan struct{})
		frames := connector.NewFrames(bytes.NewReader(sent), writerFunc(func([]byte) { close(sending) }), 1000, func(error) {}, func() error { return nil })
		answered := make(chan error, 1)
		go func() {
			_, err := frames.Call(t.Context(), "tools/call", []byte("{}"))
			answered <- err
		}()
		<-sending
		for {
			if _, err := frames.Read(t.Context()); err != nil {
				if len(sent) <= 1000 && !errors.Is(err, io.EOF) {
					t.Errorf("it ended with %v", err)
				}
				break
			}
		}
		<-answered
	})
}
