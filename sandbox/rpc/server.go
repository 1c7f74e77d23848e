package rpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Handler does one kind of call. Its result is sent as JSON, the bytes as they are.
type Handler func(args json.RawMessage, body []byte) (result any, out []byte, err error)

// A Server answers the calls of one client.
type Server struct {
	handlers map[string]Handler
}

// NewServer returns a server that can read, list and look at files.
func NewServer() *Server {
	s := &Server{handlers: map[string]Handler{}}
	s.handleFiles()
	return s
}

// Handle adds a kind of call. It is not to be used while the server serves.
func (s *Server) Handle(name string, h Handler) { s.handlers[name] = h }

// Serve answers calls until the input ends. An error means that the two sides do not
// understand each other any more.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	calls := bufio.NewReader(in)
	for {
		call, body, err := readFrame(calls)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, body := s.answer(call, body)
		if err := writeFrame(out, answer, body); err != nil {
			return err
		}
	}
}

// answer does one call. A panic is an answer too: the next call is not to suffer.
func (s *Server) answer(call header, body []byte) (answer header, out []byte) {
	defer func() {
		if p := recover(); p != nil {
			answer, out = header{Error: newError(fmt.Errorf("%s failed inside: %v", call.Name, p))}, nil
		}
	}()
	handler := s.handlers[call.Name]
	if handler == nil {
		return header{Error: newError(fmt.Errorf("there is no call %q", call.Name))}, nil
	}
	result, out, err := handler(call.Args, body)
	if err != nil {
		return header{Error: newError(err)}, nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		return header{Error: newError(err)}, nil
	}
	return header{Result: text}, out
}
