package connector

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool"
)

// An entry is a tool of a listing.
type entry struct {
	now    definition
	served definition // what models are shown
	spec   tool.Spec  // made of it
	doubt  string     // why a person has to look at it; empty if it is as it was agreed to
	old    *Pin       // what it was, if it changed
}

// same reports whether models are shown the same, and a person would be.
func (e *entry) same(o *entry) bool {
	return o != nil && e.now.hash == o.now.hash && e.served.hash == o.served.hash && e.doubt == o.doubt &&
		e.spec.Description == o.spec.Description && bytes.Equal(e.spec.Schema, o.spec.Schema)
}

func unnameable(r rune) bool { return strings.ContainsRune("*?[](): ", r) || !unicode.IsPrint(r) }

// entryFor compares a listed tool with what is pinned. Known is what is of the connector;
// like is a tool of the same list that looks the same; before is the entry of the
// last listing. What was not doubted then and has not changed is not looked up again.
func (c *Connector) entryFor(ctx context.Context, t *mcp.Tool, known acquaintance, like string,
	before *entry) (*entry, error) {
	d, err := define(t, c.cfg.launch())
	if err != nil {
		return nil, err
	}
	if before != nil && before.doubt == "" && before.now.hash == d.hash {
		return before, nil
	}
	pin, pinned, err := c.pinOf(ctx, t.Name, known.before)
	if err != nil {
		return nil, err
	}
	e := &entry{now: d}
	switch {
	case pinned && pin.Hash == d.hash && pin.Doubt == "":
		e.served = d
	case pinned && pin.Doubt != "":
		err = c.doubted(e, pin.Doubt)
	case pinned:
		err = e.changed(pin)
	default:
		err = c.unknown(ctx, e, known.met, like)
	}
	if err != nil {
		return nil, err
	}
	if e.doubt != "" && (before == nil || before.doubt != e.doubt) {
		c.report(EventDoubted, t.Name, e.doubt)
	}
	return e, e.specify(c.cfg.Name)
}

// changed is about a tool that is not as it was.
func (e *entry) changed(pin Pin) (err error) {
	since := "it was first met"
	if pin.Agreed {
		since = "a person agreed to it"
	}
	e.old, e.doubt = &pin, "its definition changed since "+since
	if bytes.Equal(pin.Tool, e.now.json) {
		e.doubt = "its server is launched in another way than when " + since
	}
	e.served, err = readDefinition(pin)
	return err
}

// unknown is about a tool that was never seen: one of a connector that is met for the first
// time is kept as it is, unless it looks like another.
func (c *Connector) unknown(ctx context.Context, e *entry, met bool, like string) error {
	e.doubt = c.resembles(e.now.tool.Name, like)
	if met && e.doubt == "" {
		e.doubt = "it is new: the connector did not have it when it was first met"
	}
	if e.doubt == "" {
		e.served = e.now
	}
	if !met { // what it had from the beginning is never said to be new
		pin := c.pin(e.now, false)
		pin.Doubt = e.doubt
		if err := c.opts.Pins.Put(ctx, c.cfg.pinnedAs(), e.now.tool.Name, pin); err != nil {
			return err
		}
	}
	if e.doubt == "" {
		return nil
	}
	return c.doubted(e, e.doubt)
}

// doubted is about a tool that nobody has agreed to: none of its server's words are shown.
func (c *Connector) doubted(e *entry, doubt string) (err error) {
	e.doubt = doubt
	e.served, err = define(bare(c.cfg.Name, e.now.tool), c.cfg.launch())
	return err
}

// resembles says what a tool's name could be taken for.
func (c *Connector) resembles(name, like string) string {
	owner, other := c.opts.Names.taken(c.cfg.Name, name)
	switch {
	case owner != "":
		return fmt.Sprintf("its name looks like that of the tool %s of %s", other, owner)
	case like != "":
		return fmt.Sprintf("its name looks like that of its connector's tool %s", like)
	case !isPlain(name):
		return fmt.Sprintf("its name has letters that look like others, such as %s", skeleton(name))
	}
	return ""
}

func (c *Connector) pin(d definition, agreed bool) Pin {
	return Pin{Hash: d.hash, Launch: c.cfg.Launch(), Tool: d.json, Agreed: agreed}
}

// specify makes the spec of what models are shown.
func (e *entry) specify(connector string) error {
	schema, err := e.served.schema()
	if err != nil {
		return err
	}
	e.spec = tool.Spec{Connector: connector, Name: e.served.tool.Name, Description: e.served.tool.Description,
		Schema: schema}
	// A schema that cannot be used, or a name, would fail the whole set of tools.
	_, err = tool.NewSet(described{e.spec})
	return err
}

// agree keeps the definition that a person agreed to.
func (c *Connector) agree(ctx context.Context, e *entry) error {
	if err := c.opts.Pins.Put(ctx, c.cfg.pinnedAs(), e.now.tool.Name, c.pin(e.now, true)); err != nil {
		return err
	}
	fine := &entry{now: e.now, served: e.now}
	if err := fine.specify(c.cfg.Name); err != nil {
		return err
	}
	if err := c.lists.agreed(ctx, fine); err != nil {
		return err
	}
	c.report(EventAgreed, e.now.tool.Name, "a person agreed to it as it is now")
	return nil
}
