package analysis

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// An address is a host that a program will talk to, as far as that is known before it runs.
type address struct {
	host, port string
	tls        bool // https for certain
	spelled    bool // by a word of the command, and not by settings
}

// addressOf reads a URL.
func addressOf(url string) (address, bool) {
	host, port, ok := programs.Address(url)
	scheme, _, isURL := strings.Cut(url, "://")
	return address{host: host, port: port, tls: strings.EqualFold(scheme, "https")}, ok && isURL && port != ""
}

// connect adds the parts of a connection. A host that is not spelled is looked for where the
// program itself would look: settings of git, of a package manager, or its usual host. These
// are guesses, so that a part with an unknown host stays beside them, unless the whole of
// what the command connects to was found.
func (w *walker) connect(c *command, p Part, e programs.Effect) {
	p.Kind, p.Port, p.TLS, p.Operand, p.Missing, p.Word = Connects, e.Port, e.TLS, e.What, e.Missing, e.Arg+1
	if e.What.Known {
		p.Host = e.What.Text
	} else {
		p.Why = "the host is not known"
	}
	found, all := w.foundHosts(c, e)
	for _, a := range found {
		q := p
		q.Host, q.Port, q.TLS, q.Settled, q.Why = a.host, a.port, a.tls, !a.spelled, ""
		q.Operand = programs.Literal(a.host)
		w.add(q)
	}
	if !all {
		if p.Host == "" && len(found) > 0 {
			p.Word = 0 // the word names what was found; others are besides
		}
		w.add(p)
	}
}

// foundHosts finds the hosts of a connection. All says that there are no others.
func (w *walker) foundHosts(c *command, e programs.Effect) (found []address, all bool) {
	if w.at.elsewhere || e.ByFlag {
		return nil, false
	}
	r := w.parts[c.part-1].Reading
	switch {
	case r.Program == "git":
		return w.gitHosts(c, r, e)
	case e.What.Known || e.Arg >= 0:
		return nil, false
	}
	for _, url := range w.usualURLs(c, r.Program) {
		if a, ok := addressOf(url); ok && !slices.Contains(found, a) {
			found = append(found, a)
		}
	}
	return found, false
}

// environment returns the value that a variable has for a command; empty if it has none or that
// is not known.
func (w *walker) environment(c *command, name string) string {
	for _, a := range slices.Backward(w.parts[c.part-1].Env) {
		if a.Name == name && a.Value.Known {
			return a.Value.Text
		}
	}
	if v, ok := w.lookup(name, c.state); ok {
		if v.exported && v.value.Known {
			return v.value.Text
		}
		return ""
	}
	value, _ := w.world.Variable(name)
	return value
}

// text returns what a file of settings says; empty if it cannot be read.
func (w *walker) text(name string) string {
	reader, can := w.world.(Reader)
	if !can {
		return ""
	}
	if _, kind := w.world.Look(name); kind != File {
		return ""
	}
	text, _ := reader.Text(name)
	return text
}
