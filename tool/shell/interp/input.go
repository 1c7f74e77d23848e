package interp

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"
)

// A lineReader reads a descriptor without taking more than it returns: what follows
// belongs to the next command.
type lineReader struct {
	s     *shell
	d     *desc
	until time.Time
	buf   []byte // what was read and not yet returned, in all
	all   []byte
	seeks bool
	ahead bool // more than the next byte may be read
	sure  int  // so many bytes can be read without waiting
}

func (s *shell) lines(d *desc, until time.Time) *lineReader {
	r := &lineReader{s: s, d: d, until: until}
	_, err := syscall.Seek(d.fd, 0, io.SeekCurrent)
	r.seeks = err == nil && !d.waits
	r.ahead = r.seeks
	return r
}

// byte returns the next byte. A file that can seek is read ahead, and done gives back
// what was too much.
func (r *lineReader) byte() (byte, error) {
	if len(r.buf) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	c := r.buf[0]
	r.buf = r.buf[1:]
	return c, nil
}

func (r *lineReader) fill() error {
	if r.all == nil {
		r.all = make([]byte, 1)
		if r.ahead {
			r.all = make([]byte, 4096)
		}
	}
	if r.sure > 0 {
		r.sure--
		if n, err := syscall.Read(r.d.fd, r.all); err == nil && n > 0 {
			r.buf = r.all[:n]
			return nil
		}
	}
	n, err := r.s.readFd(r.d, r.all, r.until)
	if err != nil {
		return err
	}
	r.buf = r.all[:n]
	if !r.ahead && r.d.waits {
		// As many bytes as are there need no further poll.
		if n, err := unix.IoctlGetInt(r.d.fd, inputWaiting); err == nil {
			r.sure = min(n, 4096)
		}
	}
	return nil
}

func (r *lineReader) done() {
	if r.seeks && len(r.buf) > 0 {
		syscall.Seek(r.d.fd, int64(-len(r.buf)), io.SeekCurrent)
		r.buf = nil
	}
}

type readOpts struct {
	raw, silent   bool
	array, prompt string
	delim         byte
	count         int // -1: a line
	exact         bool
	fd            int
	timeout       time.Duration
	timed         bool
}

func readBuiltin(s *shell, args []string) int {
	o := readOpts{delim: '\n', count: -1}
	bad := ""
	names, ok := s.flags(args, "ersa:d:i:n:N:p:t:u:", func(flag byte, value string) {
		var err error
		switch flag {
		case 'r':
			o.raw = true
		case 's':
			o.silent = true
		case 'a':
			o.array = value
		case 'd':
			o.delim = 0
			if value != "" {
				o.delim = value[0]
			}
		case 'n', 'N':
			o.exact = flag == 'N'
			if o.count, err = strconv.Atoi(value); err != nil || o.count < 0 {
				bad = value + ": invalid number"
			}
		case 'p':
			o.prompt = value
		case 't':
			var secs float64
			if secs, err = strconv.ParseFloat(value, 64); err != nil || secs < 0 {
				bad = value + ": invalid timeout specification"
			}
			o.timed, o.timeout = true, time.Duration(secs*float64(time.Second))
		case 'u':
			if o.fd, err = strconv.Atoi(value); err != nil {
				bad = value + ": invalid file descriptor specification"
			}
		}
	})
	if !ok {
		return 2
	}
	if bad != "" {
		s.complain("read", "%s", bad)
		return 1
	}
	first := o.array
	if len(names) > 0 && first == "" {
		first = names[0] // the others are looked at when it is their turn
	}
	if base, _, _ := cutSubscript(first); first != "" && !syntax.ValidName(base) {
		s.complain("read", "`%s': not a valid identifier", first)
		return 1
	}
	d := s.fds[o.fd]
	if d == nil {
		s.complain("read", "%d: invalid file descriptor: %s", o.fd, errText(syscall.EBADF))
		return 1
	}
	if o.prompt != "" && isTerminal(d.fd) {
		s.errText(o.prompt)
	}
	if o.timed && o.timeout == 0 {
		// Only asks whether there is something to read.
		err := s.wait(d, pollIn, time.Now())
		return int(truth(err != nil))
	}
	text, marks, status := s.readText(d, o)
	if !s.storeRead(text, marks, names, o) {
		return 1
	}
	return status
}

// readText reads up to the delimiter. marks tells which bytes were quoted by a backslash.
func (s *shell) readText(d *desc, o readOpts) (text []byte, marks []bool, status int) {
	var until time.Time
	if o.timed {
		until = time.Now().Add(o.timeout)
	}
	r := s.lines(d, until)
	defer r.done()
	chars := 0
	for o.count != 0 {
		c, err := r.byte()
		if err != nil {
			switch {
			case errors.Is(err, errTimeout):
				status = 128 + int(syscall.SIGALRM)
			case err == io.EOF:
				status = 1
			default:
				s.complain("read", "read error: %d: %s", o.fd, errText(err))
				status = 1
			}
			break
		}
		if c == o.delim && !o.exact {
			break
		}
		quoted := false
		if c == '\\' && !o.raw {
			if c, err = r.byte(); err != nil {
				break
			}
			if c == '\n' {
				continue
			}
			quoted = true
		}
		if c == 0 {
			continue
		}
		text, marks = append(text, c), append(marks, quoted)
		s.r.bound(s, len(text))
		if utf8.RuneStart(c) || !s.utf8() {
			chars++
		}
		if o.count > 0 && chars >= o.count && (!s.utf8() || c < utf8.RuneSelf || utf8.FullRune(lastRune(text))) {
			break
		}
	}
	return text, marks, status
}

// lastRune returns the bytes from the last start of a character on.
func lastRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// storeRead splits what was read, and reports whether it could assign it.
func (s *shell) storeRead(text []byte, marks []bool, names []string, o readOpts) bool {
	ifs := s.ifs()
	if o.exact {
		ifs = "" // -N takes the characters as they are
	}
	isSep := func(i int) bool { return !marks[i] && strings.IndexByte(ifs, text[i]) >= 0 }
	isBlank := func(i int) bool {
		return isSep(i) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n')
	}
	good := true
	put := func(name, value string) {
		base, sub, isSub := cutSubscript(name)
		if !syntax.ValidName(base) {
			if good {
				s.complain("read", "`%s': not a valid identifier", name)
			}
			good = false
		}
		if !good {
			return
		}
		if isSub {
			sub = s.runtimeSubscript(base, sub)
		}
		good = s.assign(base, sub, isSub, value, false) && good
	}
	i, end := 0, len(text)
	word := func() string {
		start := i
		for i < end && !isSep(i) {
			i++
		}
		field := string(text[start:i])
		// One separator and the white space around it end the field.
		for i < end && isBlank(i) {
			i++
		}
		if i < end && isSep(i) && !isBlank(i) {
			i++
			for i < end && isBlank(i) {
				i++
			}
		}
		return field
	}
	for i < end && isBlank(i) && (len(names) > 0 || o.array != "") {
		i++
	}
	if o.array != "" {
		var list []string
		for i < end {
			list = append(list, word())
		}
		return s.setList(o.array, list)
	}
	if len(names) == 0 {
		put("REPLY", string(text))
		return good
	}
	for _, name := range names[:len(names)-1] {
		value := ""
		if i < end {
			value = word()
		}
		put(name, value)
	}
	// The last name takes the rest, without white space at its end; a separator at the
	// end goes only if it ends the one field that is left.
	start := i
	rest := ""
	if i < end {
		field := word()
		if i == end {
			rest = field
		} else {
			for end > start && isBlank(end-1) {
				end--
			}
			rest = string(text[start:end])
		}
	}
	put(names[len(names)-1], rest)
	return good
}

func mapfileBuiltin(s *shell, args []string) int {
	name := args[0]
	delim, trim, fd, skip, most, origin, quantum, callback, hasOrigin := byte('\n'), false, 0, 0, 0, 0, 5000, "", false
	bad := ""
	num := func(value string) int {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			bad = value
		}
		return n
	}
	rest, ok := s.flags(args, "d:n:O:s:tu:C:c:", func(flag byte, value string) {
		switch flag {
		case 'd':
			delim = 0
			if value != "" {
				delim = value[0]
			}
		case 't':
			trim = true
		case 'n':
			most = num(value)
		case 'O':
			origin, hasOrigin = num(value), true
		case 's':
			skip = num(value)
		case 'u':
			fd = num(value)
		case 'C':
			callback = value
		case 'c':
			quantum = max(1, num(value))
		}
	})
	if !ok {
		return 2
	}
	if bad != "" {
		s.complain(name, "%s: invalid line count", bad)
		return 1
	}
	into := "MAPFILE"
	if len(rest) > 0 {
		into = rest[0]
	}
	if !syntax.ValidName(into) {
		s.complain(name, "`%s': not a valid identifier", into)
		return 1
	}
	d := s.fds[fd]
	if d == nil {
		s.complain(name, "%d: invalid file descriptor: %s", fd, errText(syscall.EBADF))
		return 1
	}
	into, _ = s.resolve(into)
	v := s.writable(s.home(into), into)
	if v == nil {
		return 1
	}
	if v.attrs&attrAssoc != 0 {
		s.complain(name, "%s: not an indexed array", into)
		return 1
	}
	if !hasOrigin {
		v.arr = &array{}
	}
	v.attrs |= attrArray
	v.arr, v.set, v.str = v.arr.own(), true, ""
	r := s.lines(d, time.Time{})
	r.ahead = r.seeks || most == 0 // what is read to its end can be read in large pieces
	defer r.done()
	var line []byte
	total, count := 0, 0
	for {
		c, err := r.byte()
		if err == nil {
			line = append(line, c)
			total++
			s.r.bound(s, total)
			if c != delim {
				continue
			}
		} else if len(line) == 0 {
			break
		}
		if skip > 0 {
			skip--
		} else {
			text := string(line)
			if n := len(text); n > 0 && text[n-1] == delim && (trim || delim == 0) {
				text = text[:n-1]
			}
			at := origin + count
			if callback != "" && (count+1)%quantum == 0 {
				code := callback + " " + itoa(at) + " " + quoteSingle(text)
				s.runText(code, &Source{Origin: Eval, Text: code}, name)
			}
			v.arr.put(at, text)
			total += 24
			count++
		}
		line = line[:0]
		if err != nil || most > 0 && count == most {
			break
		}
	}
	return 0
}
