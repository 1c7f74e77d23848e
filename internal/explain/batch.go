package explain

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest call that a batch takes.
const maxLine = 16 << 20

// Batch explains one call a line and writes one answer a line, in order, also
// for lines that are not calls. The error is one of reading or writing.
func (e *Explainer) Batch(ctx context.Context, in io.Reader, out io.Writer) error {
	return Batch(ctx, in, out, e.Explain)
}

// Batch has one call a line explained by a function, as [Explainer.Batch] does.
func Batch(ctx context.Context, in io.Reader, out io.Writer, explain func(context.Context, Call) Answer) error {
	r := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return w.Flush()
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errTooLong) {
			return errors.Join(fmt.Errorf("reading line %d: %w", n, err), w.Flush())
		}
		if len(bytes.TrimSpace(line)) == 0 && err == nil {
			continue
		}
		answer := explainLine(ctx, line, err, explain)
		if err := enc.Encode(answer); err != nil {
			return err
		}
		if r.Buffered() == 0 { // somebody may be waiting for this answer
			if err := w.Flush(); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), w.Flush())
		}
	}
}

var errTooLong = errors.New("the line is too long")

// readLine reads one line without its end. Of a line that is too long the rest
// is passed over.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return []byte("…"), errTooLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}

func explainLine(ctx context.Context, line []byte, err error, explain func(context.Context, Call) Answer) Answer {
	if errors.Is(err, errTooLong) {
		return Failed(err)
	}
	c, err := ParseCall(line)
	if err != nil {
		return Failed(err)
	}
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return explain(ctx, c)
}

// ParseCall reads the call on a line.
func ParseCall(line []byte) (c Call, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("this is not a call: %w; write {\"tool\": …, \"args\": {…}}", err)
	}
	if d.More() {
		return c, errors.New("there is more on the line than one call")
	}
	return c, nil
}
