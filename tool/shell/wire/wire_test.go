package wire_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/assent-dev/assent/tool/shell/wire"
)

var messages = []any{
	wire.Order{Text: "echo \xff $x", Dir: "/a", Env: []string{"A=b", "C=\x00d"}, Ask: []string{"kill"}, Stay: true},
	wire.Order{},
	wire.Act{ID: 7, Kind: wire.Start, Argv: []string{"a", "", "\xfe"}, Path: "/b", Real: "/c", Dir: "/", Env: []string{"X="}, Input: wire.Document, Text: "ls\n"},
	wire.Act{ID: 1 << 40, Kind: wire.Open, Path: "f", Writes: true},
	wire.Answer{ID: 7, Verdict: wire.Interpret, Why: "ls", Name: "sh", Params: []string{"1"}, Opts: []string{"-e"}},
	wire.End{Status: 130, Why: "no", Stays: true},
}

func TestMessages(t *testing.T) {
	var b bytes.Buffer
	for _, m := range messages {
		if err := wire.Write(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range messages {
		got, err := wire.Read(&b)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%#v came back as %#v, %v", m, got, err)
		}
	}
	if _, err := wire.Read(&b); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	for _, m := range []any{nil, "x", wire.Act{}, wire.Act{Kind: 99}} {
		if err := wire.Write(&b, m); err == nil || b.Len() > 0 {
			t.Errorf("%#v was written", m)
		}
	}
}

// Whatever arrives, it is read as something that was written, or refused.
func FuzzRead(f *testing.F) {
	for _, m := range messages {
		var b bytes.Buffer
		if err := wire.Write(&b, m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := wire.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := wire.Write(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := wire.Read(&b)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%#v became %#v, %v", m, again, err)
		}
	})
}

func TestCutShort(t *testing.T) {
	for _, m := range messages {
		var b bytes.Buffer
		if err := wire.Write(&b, m); err != nil {
			t.Fatal(err)
		}
		for n := 1; n < b.Len(); n++ {
			_, err := wire.Read(bytes.NewReader(b.Bytes()[:n]))
			if err == nil || errors.Is(err, io.EOF) && n >= 4 && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%#v cut to %d of %d bytes: %v", m, n, b.Len(), err)
			}
		}
	}
}
