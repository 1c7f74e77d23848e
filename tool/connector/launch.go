package connector

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
)

// launch is how the server is started or reached, as it is pinned: by its digest, because a
// command line or the query of a URL may hold a secret.
func (c Config) launch() string {
	if c.URL != "" {
		return c.URL
	}
	return strings.Join(c.Command, "\x00")
}

// Launch returns how the server is started or reached, for a person. What looks like a secret
// is left out, and so is what a URL asks for: it may hold one.
func (c Config) Launch() string {
	if c.URL == "" {
		return redact.Text(strings.Join(c.Command, " "))
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return "a url that cannot be read"
	}
	u.RawQuery, u.User = "", nil
	return u.String()
}

// pinnedAs is the name under which definitions are kept. A server of a command line has one
// for each command line: whoever runs it for two folders agrees to each of them once.
func (c Config) pinnedAs() string {
	if !c.ByCommand {
		return c.Name
	}
	return c.Name + " " + policy.DigestOf([]byte(c.launch())).String()
}

// server is the digest of what is launched, in whatever version and with whatever arguments.
func (c Config) server(dir string) string {
	id := "url\x00" + c.Launch()
	if c.URL == "" {
		id = launchOf(c.Command, dir).id()
	}
	return policy.DigestOf([]byte(id)).String()
}

// A NameTakenError says that the name that a command line gives a server is that of another,
// so that rules for that one would answer for this one.
type NameTakenError struct {
	Name string
	// Theirs and Ours are how the other server and this one are launched.
	Theirs, Ours string
}

func (e *NameTakenError) Error() string {
	return fmt.Sprintf("the connector name %s belongs to another server, launched as: %s\n"+
		"This one is launched as: %s\n"+
		"Name it with --name NAME so that rules tell the two apart; with --name %s it takes the other's place, and its "+
		"tools are asked again",
		e.Name, e.Theirs, e.Ours, e.Name)
}

// unlessTaken refuses a name that nobody gave and that is another server's.
func (c *Connector) unlessTaken(ctx context.Context) error {
	if !c.cfg.ByCommand || c.cfg.Named {
		return nil
	}
	pin, met, err := c.opts.Pins.Get(ctx, c.cfg.Name, "")
	if err != nil || !met || pin.Server == c.cfg.server(c.opts.Dir) {
		return err
	}
	if pin.Server == "" && pin.Launch == c.cfg.Launch() { // kept before servers were
		return nil
	}
	return &NameTakenError{Name: c.cfg.Name, Theirs: pin.Launch, Ours: c.cfg.Launch()}
}

// An acquaintance is what is known of a connector when its tools are looked at.
type acquaintance struct {
	met    bool   // it, or another under its name, was met before
	kept   bool   // this command line was
	before string // the pins of the command line that was met before it
	agreed bool   // a person agreed to something of this command line
	doubt  string // why a person has to look at the connector as such
}

// acquainted reads what is known of the connector.
func (c *Connector) acquainted(ctx context.Context) (a acquaintance, err error) {
	own, kept, err := c.opts.Pins.Get(ctx, c.cfg.pinnedAs(), "")
	if err != nil {
		return a, err
	}
	a.met, a.kept, a.before, a.agreed = kept, kept, own.Before, own.Agreed
	last := own
	if !kept && c.cfg.ByCommand {
		if last, a.met, err = c.opts.Pins.Get(ctx, c.cfg.Name, ""); err != nil {
			return a, err
		}
		if a.met {
			a.before = cmp.Or(last.As, c.cfg.Name)
		}
	}
	switch {
	case kept && own.Hash != hashOf(c.cfg.launch(), nil), !kept && a.met:
		a.doubt = "it is launched in another way than when it was last met, which was: " + last.Launch
	case kept && own.Before != "" && !own.Agreed:
		old, _, err := c.opts.Pins.Get(ctx, own.Before, "")
		if err != nil {
			return a, err
		}
		a.doubt = "nobody has agreed yet to how it is launched; it was met before as: " + old.Launch
	}
	return a, nil
}

// meet keeps that this command line was met, and by the name as rules read it, without case,
// whose that is.
func (c *Connector) meet(ctx context.Context, a acquaintance) error {
	own := Pin{Hash: hashOf(c.cfg.launch(), nil), Launch: c.cfg.Launch(), Server: c.cfg.server(c.opts.Dir),
		Before: a.before, Agreed: a.agreed}
	name := strings.ToLower(c.cfg.Name)
	if err := c.opts.Pins.Put(ctx, c.cfg.pinnedAs(), "", own); err != nil || name == c.cfg.pinnedAs() {
		return err
	}
	own.Before, own.As = "", c.cfg.pinnedAs()
	return c.opts.Pins.Put(ctx, name, "", own)
}

// maxBefore is how many command lines are looked back.
const maxBefore = 20

// pinOf returns what is kept of a tool: of this command line, else of the last before it that
// has the tool, so that a person is shown what another version changed.
func (c *Connector) pinOf(ctx context.Context, tool, before string) (pin Pin, pinned bool, err error) {
	as := c.cfg.pinnedAs()
	for range maxBefore {
		if pin, pinned, err = c.opts.Pins.Get(ctx, as, tool); pinned || err != nil || before == "" {
			return pin, pinned, err
		}
		record, _, err := c.opts.Pins.Get(ctx, before, "")
		if err != nil {
			return pin, false, err
		}
		as, before = before, record.Before
	}
	return Pin{}, false, nil
}

// Doubt says why a person has to look at the connector as such before anything of it is used;
// empty if nothing is doubted. Tools have doubts of their own.
func (c *Connector) Doubt() string { return c.lists.current().doubt }

// Agree keeps that a person agreed to how the connector is launched.
func (c *Connector) Agree(ctx context.Context) error {
	c.lists.refreshing.Lock()
	defer c.lists.refreshing.Unlock()
	return c.agreeLaunch(ctx)
}

// agreeLaunch does that. It wants the lock of the lists.
func (c *Connector) agreeLaunch(ctx context.Context) error {
	before := c.lists.current()
	if before.doubt == "" {
		return nil
	}
	a, err := c.acquainted(ctx)
	if err != nil {
		return err
	}
	a.agreed = true
	if err := c.meet(ctx, a); err != nil {
		return err
	}
	next := *before
	next.doubt = ""
	c.lists.now.Store(&next)
	c.report(EventAgreed, "", "a person agreed to how it is launched now")
	return nil
}
