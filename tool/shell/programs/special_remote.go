package programs

import "strings"

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
		"pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes", "requesttty", "serveralivecountmax", "serveraliveinterval",
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
	case "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "openssl", "ssl", "sctp", "tcp-connect", "udp-connect", "openssl-connect":
		r.connects(Literal(address), at, false)
	case "open", "file", "gopen", "create", "creat":
		r.file(Read, Literal(address), at, false, false)
		r.file(Write, Literal(address), at, false, false)
	default:
		r.alarm(at, "listens, or is an address that is not understood")
	}
}
