package interp

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

func printfBuiltin(s *shell, args []string) int {
	into := ""
	rest, ok := s.flags(args, "v:", func(_ byte, value string) { into = value })
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		s.usage("printf")
		return 2
	}
	if base, _, _ := cutSubscript(into); into != "" && !syntax.ValidName(base) {
		s.complain("printf", "`%s': not a valid identifier", into)
		return 2
	}
	f := &formatter{s: s, args: rest[1:]}
	f.run(rest[0])
	if into != "" {
		base, sub, isSub := cutSubscript(into)
		if isSub {
			sub = s.runtimeSubscript(base, sub)
		}
		if !s.assign(base, sub, isSub, strings.ReplaceAll(f.sb.String(), "\x00", ""), false) {
			return 1
		}
		return f.status
	}
	if !s.out(f.sb.String()) {
		return 1
	}
	return f.status
}

// A formatter runs printf.
type formatter struct {
	s      *shell
	args   []string
	used   bool // an argument was taken in this round
	sb     strings.Builder
	status int
	stop   bool // \c
}

func (f *formatter) run(format string) {
	for {
		f.used = false
		f.once(format)
		f.s.check()
		f.s.r.bound(f.s, f.sb.Len())
		if f.stop || len(f.args) == 0 || !f.used {
			return
		}
	}
}

func (f *formatter) next() (string, bool) {
	f.used = true
	if len(f.args) == 0 {
		return "", false
	}
	arg := f.args[0]
	f.args = f.args[1:]
	return arg, true
}

func (f *formatter) complain(format string, args ...any) {
	f.s.complain("printf", format, args...)
	f.status = 1
}

func (f *formatter) once(format string) {
	for i := 0; i < len(format) && !f.stop; i++ {
		c := format[i]
		if c == '\\' {
			end := escapeEnd(format, i)
			text, _ := unescaped(format[i:end], inFormat)
			f.sb.WriteString(text)
			i = end - 1
			continue
		}
		if c != '%' {
			f.sb.WriteByte(c)
			continue
		}
		if i+1 < len(format) && format[i+1] == '%' {
			f.sb.WriteByte('%')
			i++
			continue
		}
		n, ok := f.directive(format[i:])
		if !ok {
			f.stop = true // a bad format is not used again for more arguments
			return
		}
		i += n - 1
	}
}

// escapeEnd returns where the escape sequence at i ends.
func escapeEnd(s string, i int) int {
	if i+1 >= len(s) {
		return i + 1
	}
	max, digits := 0, "01234567"
	j := i + 2
	switch s[i+1] {
	case '0', '1', '2', '3', '4', '5', '6', '7':
		max, j = 3, i+1
	case 'x':
		max, digits = 2, "0123456789abcdefABCDEF"
	case 'u':
		max, digits = 4, "0123456789abcdefABCDEF"
	case 'U':
		max, digits = 8, "0123456789abcdefABCDEF"
	}
	for ; max > 0 && j < len(s) && strings.IndexByte(digits, s[j]) >= 0; max-- {
		j++
	}
	return j
}

// A spec is one conversion: %-08.3f.
type spec struct {
	flags           string
	width, prec     int
	hasWidth, hasPr bool
}

func (f *formatter) directive(format string) (int, bool) {
	var sp spec
	i := 1
	for i < len(format) && strings.IndexByte("-+ #0'", format[i]) >= 0 {
		if format[i] != '\'' {
			sp.flags += string(format[i])
		}
		i++
	}
	num := func() (int, bool) {
		if i < len(format) && format[i] == '*' {
			i++
			arg, _ := f.next()
			return int(f.integer(arg)), true
		}
		start := i
		for i < len(format) && format[i] >= '0' && format[i] <= '9' {
			i++
		}
		n, _ := strconv.Atoi(format[start:i])
		return min(n, 1<<24), i > start
	}
	if sp.width, sp.hasWidth = num(); sp.width < 0 {
		sp.flags += "-"
		sp.width = -sp.width
	}
	if i < len(format) && format[i] == '.' {
		i++
		sp.prec, _ = num()
		sp.hasPr = sp.prec >= 0
	}
	if i < len(format) && format[i] == '(' {
		end := strings.Index(format[i:], ")T")
		if end < 0 {
			f.complain("`%c': invalid format character", '(')
			return 0, false
		}
		f.time(format[i+1:i+end], sp)
		return i + end + 2, true
	}
	for i < len(format) && strings.IndexByte("hlLjzt", format[i]) >= 0 {
		i++
	}
	if i == len(format) {
		f.complain("`%s': missing format character", format)
		return 0, false
	}
	c := format[i]
	i++
	switch c {
	case 's', 'b', 'q', 'Q', 'c':
		arg, _ := f.next()
		switch c {
		case 'b':
			arg, f.stop = unescaped(arg, inB)
		case 'q':
			arg = quoteBackslash(arg)
		case 'Q':
			if sp.hasPr {
				arg = f.cut(arg, sp.prec)
				sp.hasPr = false
			}
			arg = quoteBackslash(arg)
		case 'c':
			arg = (arg + "\x00")[:1] // a byte, and a null byte for nothing
			sp.hasPr = false
		}
		if sp.hasPr {
			arg = f.cut(arg, sp.prec)
		}
		f.pad(arg, sp)
	case 'd', 'i':
		arg, _ := f.next()
		f.pad(signed(f.integer(arg), sp), sp)
	case 'o', 'u', 'x', 'X':
		arg, _ := f.next()
		f.pad(unsigned(uint64(f.integer(arg)), c, sp), sp)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		arg, _ := f.next()
		f.pad(float(f.float(arg), c, sp), sp)
	case 'n':
		if name, ok := f.next(); ok && name != "" {
			if !syntax.ValidName(name) {
				f.complain("`%s': not a valid identifier", name)
			} else if !f.s.assign(name, "", false, itoa(f.sb.Len()), false) {
				f.status = 1
			}
		}
	default:
		f.complain("`%c': invalid format character", c)
		return 0, false
	}
	return i, true
}

// cut takes the first n bytes, which is what bash counts here.
func (f *formatter) cut(s string, n int) string {
	if n >= len(s) {
		return s
	}
	return s[:n]
}

func (f *formatter) pad(text string, sp spec) {
	f.s.r.bound(f.s, f.sb.Len()+sp.width)
	fill := strings.Repeat(" ", max(0, sp.width-len(text)))
	if strings.Contains(sp.flags, "-") {
		f.sb.WriteString(text + fill)
		return
	}
	f.sb.WriteString(fill + text)
}

// zeros fills a number with zeros between sign and digits.
func zeros(sign, digits string, sp spec, allowed bool) string {
	if allowed && strings.Contains(sp.flags, "0") && !strings.Contains(sp.flags, "-") {
		digits = strings.Repeat("0", max(0, sp.width-len(sign)-len(digits))) + digits
	}
	return sign + digits
}

func sign(negative bool, sp spec) string {
	switch {
	case negative:
		return "-"
	case strings.Contains(sp.flags, "+"):
		return "+"
	case strings.Contains(sp.flags, " "):
		return " "
	}
	return ""
}

func signed(n int64, sp spec) string {
	digits := strconv.FormatUint(uint64(n), 10)
	if n < 0 {
		digits = strconv.FormatUint(uint64(-n), 10)
	}
	return zeros(sign(n < 0, sp), precise(digits, n == 0, sp), sp, !sp.hasPr)
}

// precise fills up to the precision.
func precise(digits string, zero bool, sp spec) string {
	if !sp.hasPr {
		return digits
	}
	if zero && sp.prec == 0 {
		return ""
	}
	return strings.Repeat("0", max(0, min(sp.prec, 1<<20)-len(digits))) + digits
}

func unsigned(n uint64, c byte, sp spec) string {
	base, prefix := 10, ""
	switch c {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
		if strings.Contains(sp.flags, "#") && n != 0 {
			prefix = "0" + string(c)
		}
	}
	digits := strconv.FormatUint(n, base)
	if c == 'X' {
		digits = strings.ToUpper(digits)
	}
	digits = precise(digits, n == 0, sp)
	if c == 'o' && strings.Contains(sp.flags, "#") && !strings.HasPrefix(digits, "0") {
		digits = "0" + digits
	}
	return zeros(prefix, digits, sp, !sp.hasPr)
}

func float(n float64, c byte, sp spec) string {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		text := "inf"
		if math.IsNaN(n) {
			text = "nan"
		}
		if c < 'a' {
			text = strings.ToUpper(text)
		}
		return sign(math.Signbit(n), sp) + text
	}
	prec := 6
	if sp.hasPr {
		prec = min(sp.prec, 10000)
	}
	abs := math.Abs(n)
	var digits string
	switch c {
	case 'f', 'F':
		digits = strconv.FormatFloat(abs, 'f', prec, 64)
	case 'e', 'E':
		digits = strconv.FormatFloat(abs, 'e', prec, 64)
	case 'g', 'G':
		verb := "%." + itoa(max(prec, 1)) + "g"
		if strings.Contains(sp.flags, "#") {
			verb = "%#." + itoa(max(prec, 1)) + "g"
		}
		digits = fmt.Sprintf(verb, abs)
	default:
		if !sp.hasPr {
			prec = -1
		}
		digits = strconv.FormatFloat(abs, 'x', prec, 64)
	}
	if c < 'a' {
		digits = strings.ToUpper(digits)
	}
	return zeros(sign(math.Signbit(n), sp), digits, sp, true)
}

// quoted returns the code of the character in "'x".
func quoted(arg string) (int64, bool) {
	if len(arg) < 2 || arg[0] != '\'' && arg[0] != '"' {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(arg[1:])
	if r == utf8.RuneError {
		r = rune(arg[1])
	}
	return int64(r), true
}

func (f *formatter) integer(arg string) int64 {
	if n, ok := quoted(arg); ok {
		return n
	}
	text := strings.TrimLeft(arg, " \t\n")
	if text == "" {
		if arg != "" {
			f.complain("%s: invalid number", arg)
		}
		return 0
	}
	n, rest := cInteger(text)
	if rest != "" {
		f.complain("%s: invalid number", arg)
	} else if errors.Is(rangeOf(text), strconv.ErrRange) {
		f.s.complain("printf", "warning: %s: Numerical result out of range", arg)
	}
	return n
}

func rangeOf(text string) error {
	_, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		if _, err2 := strconv.ParseUint(strings.TrimPrefix(text, "+"), 0, 64); err2 == nil {
			return nil
		}
	}
	return err
}

// cInteger reads as much of a number as strtol does.
func cInteger(text string) (n int64, rest string) {
	i := 0
	neg := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		neg = text[i] == '-'
		i++
	}
	base := uint64(10)
	if strings.HasPrefix(text[i:], "0x") || strings.HasPrefix(text[i:], "0X") {
		base = 16
		i += 2
	} else if strings.HasPrefix(text[i:], "0") && len(text) > i+1 {
		base = 8
	}
	start := i
	var u uint64
	over := false
	for ; i < len(text); i++ {
		d := strings.IndexByte("0123456789abcdef", lower(text[i]))
		if d < 0 || uint64(d) >= base {
			break
		}
		next := u*base + uint64(d)
		if next < u || u > (math.MaxUint64-uint64(d))/base {
			over = true
		}
		u = next
	}
	if i == start {
		return 0, text
	}
	switch {
	case over && neg:
		return math.MinInt64, text[i:]
	case over:
		return math.MaxInt64, text[i:]
	case neg:
		return -int64(u), text[i:]
	}
	return int64(u), text[i:]
}

func (f *formatter) float(arg string) float64 {
	if n, ok := quoted(arg); ok {
		return float64(n)
	}
	text := strings.TrimSpace(arg)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		// As much as is a number counts.
		for i := len(text) - 1; i > 0; i-- {
			if m, err := strconv.ParseFloat(text[:i], 64); err == nil {
				n = m
				break
			}
		}
		f.complain("%s: invalid number", arg)
	}
	return n
}

// time does %(format)T.
func (f *formatter) time(format string, sp spec) {
	arg, ok := f.next()
	var t time.Time
	switch {
	case !ok || arg == "-1" || arg == "":
		t = time.Now()
	case arg == "-2":
		t = f.s.r.began
	default:
		t = time.Unix(f.integer(arg), 0)
	}
	if format == "" {
		format = "%X"
	}
	loc := time.Local
	if tz, ok := f.s.lookup("TZ").scalar(); ok {
		if l, err := time.LoadLocation(tz); err == nil {
			loc = l
		}
	}
	f.pad(strftime(format, t.In(loc)), sp)
}

func strftime(format string, t time.Time) string {
	var sb strings.Builder
	put := func(layout string) { sb.WriteString(t.Format(layout)) }
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			sb.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; c {
		case 'Y':
			put("2006")
		case 'm':
			put("01")
		case 'd':
			put("02")
		case 'e':
			put("_2")
		case 'H':
			put("15")
		case 'I':
			put("03")
		case 'M':
			put("04")
		case 'S':
			put("05")
		case 'y':
			put("06")
		case 'F':
			put("2006-01-02")
		case 'T', 'X':
			put("15:04:05")
		case 'R':
			put("15:04")
		case 'D', 'x':
			put("01/02/06")
		case 'a':
			put("Mon")
		case 'A':
			put("Monday")
		case 'b', 'h':
			put("Jan")
		case 'B':
			put("January")
		case 'p':
			put("PM")
		case 'Z':
			put("MST")
		case 'z':
			put("-0700")
		case 'c':
			put("Mon Jan _2 15:04:05 2006")
		case 'j':
			fmt.Fprintf(&sb, "%03d", t.YearDay())
		case 's':
			fmt.Fprintf(&sb, "%d", t.Unix())
		case 'u':
			fmt.Fprintf(&sb, "%d", (int(t.Weekday())+6)%7+1)
		case 'w':
			fmt.Fprintf(&sb, "%d", int(t.Weekday()))
		case 'V':
			_, week := t.ISOWeek()
			fmt.Fprintf(&sb, "%02d", week)
		case 'G':
			year, _ := t.ISOWeek()
			fmt.Fprintf(&sb, "%d", year)
		case 'k':
			fmt.Fprintf(&sb, "%2d", t.Hour())
		case 'l':
			fmt.Fprintf(&sb, "%2d", (t.Hour()+11)%12+1)
		case 'C':
			fmt.Fprintf(&sb, "%02d", t.Year()/100)
		case 'n':
			sb.WriteByte('\n')
		case 't':
			sb.WriteByte('\t')
		case '%':
			sb.WriteByte('%')
		default:
			sb.WriteString("%" + string(c))
		}
	}
	return sb.String()
}
