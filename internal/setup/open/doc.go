// Package open opens what a [setup.Setup] says holds: the sandbox, the store, the tools, the
// connectors and what gates stand on. A door says what it opens them for ([Order.Use]) and
// adds who is asked and what is shown; policy, protected files and denies are set here and
// nowhere else.
//
//	base, err := open.Open(ctx, s, open.Order{Use: open.Run})
//	defer base.Close()
//	foreign, err := base.Connect(ctx, base.Connectors, open.Servers{})
//	box, err := base.Box(base.Configuration, open.Tools{Further: foreign.Tools(base.Connectors)})
//	gate, err := tool.Guard(base.Gate(base.InForce()), box.Tools...)
package open
