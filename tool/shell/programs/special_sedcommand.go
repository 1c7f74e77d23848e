package programs

import "strings"

// command reads one command behind its address.
func (s *sedScript) command() bool {
	c := s.peek()
	s.at++
	switch c {
	case '{':
		return true
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'F', 'z':
		return s.ends()
	case 'l', 'L', 'q', 'Q':
		s.skip(" \t")
		s.skip("0123456789")
		return s.ends()
	case 'a', 'i', 'c':
		s.line(true)
		return true
	case '#':
		s.line(false)
		return true
	case ':', 'b', 't', 'T', 'v':
		s.skip(" \t")
		for s.at < len(s.text) && strings.IndexByte(" \t\n;}", s.text[s.at]) < 0 {
			s.at++
		}
		return true
	case 'r', 'R':
		return s.file(read)
	case 'w', 'W':
		return s.file(write)
	case 'e':
		return s.exec()
	case 's':
		return s.substitute()
	case 'y':
		end := s.peek()
		s.at++
		from := s.delimited(end, false)
		return from && s.delimited(end, false) && s.ends()
	}
	return false
}

// ends reports whether a command may end here.
func (s *sedScript) ends() bool {
	s.skip(" \t")
	return s.at >= len(s.text) || strings.IndexByte("\n;}#", s.text[s.at]) >= 0
}

// line takes the rest of the line; a backslash hides its end in text.
func (s *sedScript) line(hides bool) string {
	from := s.at
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		if hides && s.text[s.at] == '\\' {
			s.at++
		}
		s.at++
	}
	s.at = min(s.at, len(s.text))
	return s.text[from:s.at]
}

// file takes the name of a file, which goes on to the end of the line.
func (s *sedScript) file(v verb) bool {
	name := strings.TrimLeft(s.line(false), " \t")
	switch name {
	case "":
		return false
	case "/dev/stdout", "/dev/stderr":
		return true
	case "/dev/stdin":
		if v == read {
			return true
		}
	}
	s.did = append(s.did, sedDeed{v, name})
	return true
}

// exec takes the command that is run; without one, what was read is run.
func (s *sedScript) exec() bool {
	command := strings.TrimSpace(s.line(true))
	if command == "" {
		s.did = append(s.did, sedDeed{verb: code})
		return true
	}
	s.did = append(s.did, sedDeed{run, command})
	return true
}

// substitute takes s/…/…/ and its flags.
func (s *sedScript) substitute() bool {
	end := s.peek()
	s.at++
	if !s.delimited(end, true) || !s.delimited(end, false) {
		return false
	}
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case strings.IndexByte("gpiImM", c) >= 0, c >= '0' && c <= '9':
		case c == 'e':
			s.did = append(s.did, sedDeed{verb: code})
		case c == 'w':
			s.at++
			return s.file(write)
		default:
			return s.ends()
		}
		s.at++
	}
	return true
}
