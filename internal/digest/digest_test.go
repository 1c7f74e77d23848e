package digest

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
)

func TestDigestText(t *testing.T) {
	d := Of([]byte("abc"))
	const want = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if d.String() != want || (Digest{}).String() != "" {
		t.Errorf("String() = %q and %q", d, Digest{})
	}
	var read struct{ D, Zero Digest }
	if err := json.Unmarshal([]byte(`{"D":"`+want+`","Zero":""}`), &read); err != nil || read.D != d || !read.Zero.IsZero() {
		t.Errorf("read %v, %v", read, err)
	}
	for _, bad := range []string{"x", "sha256:", want[:70], want + "0", strings.ToUpper(want), "sha256:" + strings.ToUpper(want[7:]), "sha256:" + strings.Repeat("0", 64), strings.Replace(want, "b", "g", 1)} {
		got := d
		if err := got.UnmarshalText([]byte(bad)); err == nil || !got.IsZero() {
			t.Errorf("UnmarshalText(%q) left %v and %v; want an error and nothing", bad, got, err)
		}
	}
}

func TestFieldsKeepsFieldsApart(t *testing.T) {
	sum := func(texts ...string) Digest {
		h := NewFields("test")
		h.Texts(texts)
		return h.Sum()
	}
	if sum("ab", "c") == sum("a", "bc") || sum("") == sum() || sum("a", "") == sum("a") {
		t.Error("two different lists of fields have one hash")
	}
}

// However fields gather on their way, what is hashed is each with its length.
func TestFieldsHashesEveryByte(t *testing.T) {
	for _, size := range []int{0, 1, pendingHash - 9, pendingHash - 8, pendingHash, pendingHash + 1, 3 * pendingHash} {
		field := strings.Repeat("x", size)
		h, want := NewFields("test"), []byte("\x00\x00\x00\x00\x00\x00\x00\x04test")
		for range 3 {
			h.Text(field)
			h.Bytes([]byte(field))
			h.Flag(true)
			h.Digest(Digest{1})
			for range 2 {
				want = append(binary.BigEndian.AppendUint64(want, uint64(size)), field...)
			}
			one := Digest{1}
			want = append(binary.BigEndian.AppendUint64(want, 1), one[:]...)
		}
		if h.Sum() != Of(want) {
			t.Errorf("fields of %d bytes are not hashed as they are", size)
		}
	}
}
