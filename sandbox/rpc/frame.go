package rpc

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxPart is the size of the largest part of a frame. A frame beyond it is a mistake or an
// attack; either way the stream cannot be trusted any more.
const maxPart = 64 << 20

// A header is the part of a frame that is not plain bytes.
type header struct {
	// A call has these.
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// An answer has these.
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// writeFrame writes two lengths, the header and the body, at once.
func writeFrame(w io.Writer, h header, body []byte) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(text) > maxPart || len(body) > maxPart {
		return fmt.Errorf("a call with %d bytes is too large; the limit is %d", len(text)+len(body), maxPart)
	}
	out := make([]byte, 0, 8+len(text)+len(body))
	out = binary.BigEndian.AppendUint32(out, uint32(len(text)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	out = append(append(out, text...), body...)
	_, err = w.Write(out)
	return err
}

// readFrame reads one frame. It returns io.EOF only between frames.
func readFrame(r io.Reader) (header, []byte, error) {
	var h header
	var lengths [8]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		return h, nil, err
	}
	n, m := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])
	if n > maxPart || m > maxPart {
		return h, nil, fmt.Errorf("a frame of %d and %d bytes is too large", n, m)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(n)+int64(m)))
	if err != nil {
		return h, nil, err
	}
	if len(data) != int(n)+int(m) {
		return h, nil, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(data[:n], &h); err != nil {
		return h, nil, fmt.Errorf("a frame is not understood: %w", err)
	}
	return h, data[n:], nil
}
