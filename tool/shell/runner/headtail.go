package runner

import (
	"fmt"
	"unicode/utf8"
)

// markerRoom is kept free for the line that says what is left out.
const markerRoom = 64

// A headTail keeps the beginning and the end of a stream, however long.
type headTail struct {
	limit int
	head  []byte // the first bytes, up to the limit
	tail  []byte // the last bytes, as a ring of half the limit
	next  int    // where the ring goes on
	total int64
}

func (k *headTail) add(p []byte) {
	k.total += int64(len(p))
	room := min(k.limit-len(k.head), len(p))
	k.head = append(k.head, p[:room]...)
	k.ring(p[room:])
}

// ring keeps the end of what no longer fits into the head.
func (k *headTail) ring(p []byte) {
	size := k.limit - k.limit/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	for len(p) > 0 {
		if len(k.tail) < size {
			n := min(size-len(k.tail), len(p))
			k.tail, p = append(k.tail, p[:n]...), p[n:]
			continue
		}
		n := copy(k.tail[k.next:], p)
		k.next, p = (k.next+n)%size, p[n:]
	}
}

// output returns what is kept. If that is not all, both pieces begin and end between
// characters, and the whole is no longer than the limit.
func (k *headTail) output() Output {
	out := Output{Bytes: k.total, Truncated: k.total > int64(k.limit)}
	if !out.Truncated {
		out.Text = string(k.head)
		return out
	}
	room := max(k.limit-markerRoom, 0)
	head := cutEnd(k.head[:room/2])
	tail := cutBegin(k.last(room - room/2))
	out.Text = fmt.Sprintf("%s\n… %d bytes left out …\n%s", head, k.total-int64(len(head)+len(tail)), tail)
	return out
}

// last returns the last n bytes of the stream, which is longer than the limit.
func (k *headTail) last(n int) []byte {
	all := append(append(append([]byte{}, k.head...), k.tail[k.next:]...), k.tail[:k.next]...)
	return all[len(all)-n:]
}

// cutEnd drops the beginning of a character at the end.
func cutEnd(p []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(p)); i++ {
		c := p[len(p)-i]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-i:]) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// cutBegin drops the end of a character at the beginning.
func cutBegin(p []byte) []byte {
	for i := range min(utf8.UTFMax, len(p)) {
		if utf8.RuneStart(p[i]) {
			return p[i:]
		}
	}
	return p
}
