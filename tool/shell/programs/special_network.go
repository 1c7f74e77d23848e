package programs

import (
	"path"
	"strings"
)

// curlFlags notes the files that curl reads where a value begins with @.
func curlFlags(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if !u.given {
			continue
		}
		switch u.flag.names[0] {
		case "-d", "-H", "-w":
			r.atFile(u, u.value)
		case "-F":
			r.formFile(u)
		case "-b":
			if !u.value.Known || !strings.Contains(u.value.Text, "=") {
				r.file(Read, u.value, u.at, false, false)
			}
		case "--url":
			r.url(u.value, u.at)
		}
	}
}

// markTLS notes which connections are https for certain: not where the server may
// send curl to another place.
func (r *reader) markTLS() {
	for _, w := range r.args {
		if long := strings.HasPrefix(w.Text, "--"); !w.Known || strings.HasPrefix(w.Text, "--l") ||
			!long && strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "L") {
			return
		}
	}
	for i := range r.out.Effects {
		e := &r.out.Effects[i]
		e.TLS = e.Kind == Connect && e.Arg >= 0 && strings.HasPrefix(strings.ToLower(r.args[e.Arg].Text), "https://")
	}
}

// atFile notes @FILE, and for --data-urlencode NAME@FILE. A value that is not
// known may turn out to be one.
func (r *reader) atFile(u *use, value Word) {
	if !value.Known && value.Begin == "" {
		r.file(Read, value, u.at, false, false)
		return
	}
	text := value.Text
	if !value.Known {
		text = value.Begin
	}
	if strings.HasPrefix(text, "@") {
		r.file(Read, cutPrefix(value, "@"), u.at, false, false)
		return
	}
	name, _, named := strings.Cut(text, "@")
	if named && strings.HasPrefix(r.args[u.at].Text, "--data-u") && !strings.Contains(name, "=") {
		r.file(Read, cutPrefix(value, name+"@"), u.at, false, false)
	}
}

// formFile notes NAME=@FILE and NAME=<FILE, which a ; ends.
func (r *reader) formFile(u *use) {
	name, value, ok := strings.Cut(u.value.Text, "=")
	switch {
	case !u.value.Known:
		r.file(Read, Word{Text: u.value.Text}, u.at, false, false)
	case ok && value != "" && (value[0] == '@' || value[0] == '<'):
		for file := range strings.SplitSeq(value[1:], ",") {
			file, _, _ = strings.Cut(file, ";")
			r.file(Read, Literal(strings.Trim(file, `"`)), u.at, false, false)
		}
	case ok && strings.HasPrefix(value, "(") || name == "":
		r.alarm(u.at, "is a form that is not understood")
	}
}

// curlOperands notes whom the URLs name, and what -O writes.
func curlOperands(r *reader) {
	for _, at := range r.operands {
		r.plain(at)
		r.url(r.args[at], at)
	}
	r.markTLS()
	if len(r.operands) == 0 && !r.quits && !r.usesAny("--url", "-K", "-V", "-h") {
		r.doubt("curl wants a URL")
	}
	if u := r.used("-O"); u != nil {
		for _, at := range r.operands {
			r.writeNamed(r.args[at], r.used("--output-dir"), u.at, true)
		}
	}
}

// url notes a host, or for file: a file.
func (r *reader) url(w Word, at int) {
	text := w.Text
	if !w.Known {
		text = w.Begin
	}
	if len(text) >= 5 && strings.EqualFold(text[:5], "file:") {
		rest := strings.TrimLeft(text[5:], "/")
		r.file(Read, Word{Text: "/" + rest, Known: w.Known}, at, true, false)
		return
	}
	r.connects(w, at, false)
}

// writeNamed notes the file that is named like the last part of a URL.
func (r *reader) writeNamed(url Word, folder *use, at int, byFlag bool) {
	file := somewhere("*")
	if name := urlName(url.Text); url.Known && name != "" {
		file = Literal(name)
	}
	if folder != nil && folder.given {
		file = joinPath(folder.value, file)
	}
	r.file(Write, file, at, false, byFlag)
}

// urlName is the last part of a URL's path; empty if it cannot be told.
func urlName(url string) string {
	_, rest, isURL := strings.Cut(url, "://")
	if !isURL {
		rest = url
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	if !strings.Contains(rest, "/") || strings.HasSuffix(rest, "/") || strings.ContainsAny(rest, "{[%") {
		return ""
	}
	return path.Base(rest)
}

// wgetFiles notes the files that wget names itself.
func wgetFiles(r *reader) {
	if len(r.operands) == 0 && !r.quits && !r.usesAny("-i") {
		r.doubt("wget wants a URL")
	}
	if r.quits || r.usesAny("-O", "--spider") {
		return
	}
	folder := r.used("-P")
	if r.usesAny("-r", "-i") {
		if folder == nil {
			r.file(Write, Literal("."), -1, true, false)
		}
		return
	}
	for _, at := range r.operands {
		url := r.args[at]
		if strings.Contains(url.Text, "?") || !strings.Contains(strings.TrimPrefix(url.Text, "://"), "/") {
			url = somewhere(url.Text) // the name has more than the path
		}
		r.writeNamed(url, folder, at, false)
	}
}

// ghFields notes the files that `gh api -F NAME=@FILE` reads.
func ghFields(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "-F" || !u.given {
			continue
		}
		if _, value, ok := strings.Cut(u.value.Text, "="); ok && strings.HasPrefix(value, "@") {
			r.file(Read, Word{Text: value[1:], Known: u.value.Known}, u.at, false, false)
		}
	}
}

// urlFiles makes a host of every file that is a URL.
func urlFiles(r *reader) {
	for i, e := range r.out.Effects {
		if e.Kind != Read || !strings.Contains(e.What.Text, "://") {
			continue
		}
		n := len(r.out.Effects)
		r.connects(e.What, e.Arg, e.ByFlag)
		r.out.Effects[i] = r.out.Effects[n]
		r.out.Effects = r.out.Effects[:n]
	}
}

// scanSSH reads options before and behind the host: only the second operand
// begins the command.
func scanSSH(r *reader) {
	for i := 0; i < len(r.args); {
		i += r.take(i)
		r.ended = r.ended || len(r.operands) == 2
	}
}

// sshOptions says what -o NAME=VALUE does.
func sshOptions(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "-o" || !u.given {
			continue
		}
		name, value := sshOption(u.value.Text)
		switch {
		case u.value.Known && harmlessSSHOption(name):
		case u.value.Known && sshCommandOption(name) && !strings.EqualFold(value, "none"):
			r.alarm(u.at, "runs a command")
			r.runs(Run{IsScript: true, Script: Literal(value)})
			r.out.Runs[len(r.out.Runs)-1].Elsewhere = name == "remotecommand"
		default:
			r.alarm(u.at, "is an option that can run programs or forward ports")
		}
	}
}

// sshOption cuts NAME=VALUE and NAME VALUE.
func sshOption(text string) (name, value string) {
	text = strings.TrimSpace(text)
	at := strings.IndexAny(text, "= \t")
	if at < 0 {
		return strings.ToLower(text), ""
	}
	return strings.ToLower(text[:at]), strings.Trim(strings.TrimLeft(text[at:], "= \t"), `"`)
}

// harmlessSSHOption reports whether the option changes only how ssh connects.
func harmlessSSHOption(name string) bool {
	switch name {
	case "addressfamily", "batchmode", "checkhostip", "ciphers", "compression", "connectionattempts", "connecttimeout",
		"controlpersist", "hostkeyalgorithms", "identitiesonly", "ipqos", "kexalgorithms", "loglevel", "macs",
		"numberofpasswordprompts", "passwordauthentication", "port", "preferredauthentications", "pubkeyauthentication",
		"pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes", "requesttty", "serveralivecountmax",
		"serveraliveinterval",
		"stricthostkeychecking", "tcpkeepalive", "user", "visualhostkey", "forwardx11", "updatehostkeys", "hashknownhosts":
		return true
	}
	return false
}

func sshCommandOption(name string) bool {
	switch name {
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand":
		return true
	}
	return false
}

// sshPort fills in the port of connections that name none: that of -p, or for
// scp -P, or ssh's own.
func sshPort(r *reader) {
	port := "22"
	for _, name := range []string{"-p", "-P"} {
		if u := r.used(name); u != nil && u.flag.args == 1 && u.given {
			port = u.value.Text
			if !u.value.Known {
				port = ""
			}
		}
	}
	r.defaultPort(port)
}

func (r *reader) defaultPort(port string) {
	for i := range r.out.Effects {
		if e := &r.out.Effects[i]; e.Kind == Connect && e.Port == "" {
			e.Port = port
		}
	}
}

// netcatPort takes the port from the operand behind the host.
func netcatPort(r *reader) {
	if len(r.operands) == 2 && r.args[r.operands[1]].Known {
		r.defaultPort(r.args[r.operands[1]].Text)
	}
}

// finishRsync notes what --delete and --remove-source-files delete. HOST::MODULE
// is a server of rsync's own; all else goes through ssh.
func finishRsync(r *reader) {
	port := "22"
	for _, at := range r.operands {
		if strings.Contains(r.args[at].Text, "::") {
			port = "873"
		}
	}
	if r.usesAny("--rsh", "--port") {
		port = ""
	}
	r.defaultPort(port)
	if len(r.operands) < 2 || r.usesAny("--dry-run") {
		return
	}
	last := len(r.operands) - 1
	for i := range r.uses {
		u := &r.uses[i]
		switch u.flag.names[0] {
		case "--delete", "--delete-missing-args":
			r.deleteLocal(r.operands[last])
		case "--remove-source-files":
			for _, at := range r.operands[:last] {
				r.deleteLocal(at)
			}
		}
	}
}

// deleteLocal notes that all below an operand may be deleted, unless it lies on
// another machine.
func (r *reader) deleteLocal(at int) {
	if w := r.args[at]; !w.Known || !strings.Contains(w.Text, ":") {
		r.file(Delete, w, at, true, true)
	}
}

// copyOut notes what docker cp and kubectl cp do: CONTAINER:PATH is elsewhere.
func copyOut(r *reader) {
	if len(r.operands) != 2 {
		r.doubt(r.entry.name + " wants two operands")
		return
	}
	for i, at := range r.operands {
		r.plain(at)
		w := r.args[at]
		if w.Known && (w.Text == "-" || strings.Contains(w.Text, ":")) {
			continue
		}
		kind := Read
		if i == 1 {
			kind = Write
		}
		r.file(kind, w, at, true, false)
	}
}

// socatAddresses says what the two ends of socat are.
func socatAddresses(r *reader) {
	for _, at := range r.operands {
		r.plain(at)
		w := r.args[at]
		if !w.Known {
			r.doubt("the address " + w.Text + " of socat is not known")
			continue
		}
		kind, rest, _ := strings.Cut(w.Text, ":")
		address, _, _ := strings.Cut(rest, ",")
		r.socatAddress(strings.ToLower(kind), address, rest, at)
	}
}

func (r *reader) socatAddress(kind, address, rest string, at int) {
	switch kind, _, _ = strings.Cut(kind, ","); kind {
	case "-", "stdio", "stdin", "stdout", "stderr", "pipe":
	case "exec", "system", "shell":
		r.alarm(at, "runs a command")
		r.runs(Run{IsScript: true, Script: Literal(rest)})
	case "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "openssl", "ssl", "sctp", "tcp-connect", "udp-connect",
		"openssl-connect":
		r.connects(Literal(address), at, false)
	case "open", "file", "gopen", "create", "creat":
		r.file(Read, Literal(address), at, false, false)
		r.file(Write, Literal(address), at, false, false)
	default:
		r.alarm(at, "listens, or is an address that is not understood")
	}
}
