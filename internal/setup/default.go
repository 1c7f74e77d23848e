package setup

import (
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// Default is how reasons call what holds for other agents where no file speaks: reading in
// the project is free, writing asks, and so do commands that are not known to only
// read.
const Default = "assent's default"

// defaultTier is the lowest tier of another agent in a folder. It has a word on commands
// unless a file has one.
func defaultTier(dir string, saysShell bool) config.Tier {
	p := &config.Policy{
		File: Default, Secrets: roots.DefaultSecrets,
		Roots: []roots.Root{{Name: ".", Host: dir, Mode: roots.ReadWrite, Source: Default}},
		OS:    config.OSSandbox{Network: sandbox.Network{On: true, Source: Default}},
	}
	if !saysShell {
		p.HasShell, p.Shell = true, shell.Config{Readonly: true}
	}
	return config.Tier{Kind: config.BuiltIn, Policy: p}
}
