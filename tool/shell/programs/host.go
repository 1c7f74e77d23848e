package programs

import "strings"

// defaultPort is what a URL without a port means.
func defaultPort(scheme string) string {
	switch strings.ToLower(scheme) {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ssh", "sftp", "scp":
		return "22"
	case "ftp":
		return "21"
	case "git":
		return "9418"
	case "rsync":
		return "873"
	}
	return ""
}

// connects notes a host, user@host, host:port or URL. What is not one of these in
// plain letters is not known: programs read odd ones differently.
func (r *reader) connects(w Word, at int, byFlag bool) {
	host, port, ok := hostOf(w)
	e := Effect{Kind: Connect, What: Word{Text: w.Text, Begin: w.Begin}, Arg: at, ByFlag: byFlag}
	if ok {
		e.What, e.Port = Literal(host), port
	}
	r.out.Effects = append(r.out.Effects, e)
}

// hostOf returns the host and the port that a word names.
func hostOf(w Word) (host, port string, ok bool) {
	t := w.Text
	if !w.Known {
		t = w.Begin
	}
	scheme, rest, isURL := strings.Cut(t, "://")
	if !isURL {
		scheme, rest = "", t
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 && !w.Known {
		return "", "", false // the host goes on in what is not known
	}
	if end >= 0 {
		rest = rest[:end]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if !plainHost(strings.ReplaceAll(rest[:at], ":", "")) {
			return "", "", false
		}
		rest = rest[at+1:]
	}
	host, port = splitPort(rest)
	if port == "" {
		port = defaultPort(scheme)
	}
	return strings.ToLower(host), port, plainHost(host) || isIPv6(host)
}

// splitPort cuts host:port and [::1]:port.
func splitPort(s string) (host, port string) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		host, rest, _ := strings.Cut(inner, "]")
		return host, strings.TrimPrefix(rest, ":")
	}
	if strings.Count(s, ":") != 1 {
		return s, ""
	}
	host, port, _ = strings.Cut(s, ":")
	return host, port
}

// plainHost reports whether a name has only letters that no program reads twice.
func plainHost(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' {
			continue
		}
		return false
	}
	return s != "" && s[0] != '-'
}

func isIPv6(s string) bool {
	return strings.Count(s, ":") >= 2 && strings.Trim(s, "0123456789abcdefABCDEF:.") == ""
}

// remote notes host:path as scp and rsync write it, or else a file.
func (r *reader) remote(want role, w Word, at int, byFlag bool) {
	t := w.Text
	if !w.Known {
		t = w.Begin
	}
	colon, slash := strings.IndexByte(t, ':'), strings.IndexByte(t, '/')
	switch {
	case strings.Contains(t, "://"):
		r.connects(w, at, byFlag)
	case colon > 0 && (slash < 0 || colon < slash):
		host := Literal(t[:colon])
		r.connects(host, at, byFlag)
	case !w.Known && slash < 0:
		r.connects(w, at, byFlag) // it may name a host
		fallthrough
	case want.verb == remote:
		r.file(Read, w, at, want.tree || r.tree, byFlag)
	default:
		r.file(Write, w, at, want.tree || r.tree, byFlag)
	}
}

// Address returns the host and the port that a URL or host:port names. It is not ok for what
// programs may read differently.
func Address(text string) (host, port string, ok bool) { return hostOf(Literal(text)) }
