package interp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// selectLoop does select: it shows a menu and reads choices until its input ends.
func (s *shell) selectLoop(cm *syntax.ForClause) {
	loop, ok := cm.Loop.(*syntax.WordIter)
	if !ok || !syntax.ValidName(loop.Name.Value) {
		s.unsupported("select", cm.Pos())
	}
	items := s.params
	if loop.InPos.IsValid() {
		items = s.fields(loop.Items)
	}
	if len(items) == 0 {
		s.status = 0
		return
	}
	status, show := 0, true
	for {
		s.check()
		s.at(cm.Pos())
		s.debug(func() string { return "select " + loop.Name.Value + " in " + iterText(s.src, loop) })
		choice, ok := s.choose(items, show)
		if !ok {
			s.leaf(1)
			return
		}
		if !s.assign(loop.Name.Value, "", false, choice, false) {
			s.leaf(1)
			return
		}
		again := s.body(cm.Do)
		status = s.status
		if !again {
			s.status = status
			return
		}
		show = s.get("REPLY") == ""
	}
}

// choose asks until there is an answer. One that is not a number of the menu is empty.
func (s *shell) choose(items []string, show bool) (string, bool) {
	prompt := "#? "
	if v := s.lookup("PS3"); v != nil && v.set {
		prompt = s.prompt(v.str)
	}
	for ; ; show = true {
		if show {
			s.errText(s.menu(items))
		}
		s.errText(prompt)
		if s.runBuiltin(readBuiltin, []string{"read"}) != 0 {
			s.out("\n")
			return "", false
		}
		reply := s.get("REPLY")
		if reply == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(reply))
		if err != nil || n < 1 || n > len(items) {
			return "", true
		}
		return items[n-1], true
	}
}

// menu lays out the choices in columns, as bash does.
func (s *shell) menu(items []string) string {
	width, err := strconv.Atoi(s.get("COLUMNS"))
	if err != nil || width <= 0 {
		width = 80
	}
	digits := len(itoa(len(items)))
	widest := 0
	for _, item := range items {
		widest = max(widest, utf8.RuneCountInString(item))
	}
	widest += digits + 4
	cols := max(1, width/widest)
	rows := (len(items) + cols - 1) / cols
	cols = (len(items) + rows - 1) / rows
	if rows == 1 {
		rows = cols
	}
	var sb strings.Builder
	for row := range rows {
		for i, pos := row, 0; ; pos += widest {
			n := digits
			if pos == 0 {
				n = len(itoa(rows))
			}
			fmt.Fprintf(&sb, "%*d) %s", n, i+1, items[i])
			at := pos + n + 2 + utf8.RuneCountInString(items[i])
			if i += rows; i >= len(items) {
				break
			}
			for to := pos + widest; at < to; {
				if to/8 > at/8 {
					sb.WriteByte('\t')
					at += 8 - at%8
				} else {
					sb.WriteByte(' ')
					at++
				}
			}
		}
		sb.WriteByte('\n')
	}
	s.r.bound(s, sb.Len())
	return sb.String()
}
