package setup

import (
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/starter"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// Quiet is how reasons call what holds there instead, if the user chose it: the policy of
// 'assent init --policy quiet'.
const Quiet = "assent's quiet policy"

// Default is how reasons call what holds for other agents where no file speaks: reading in
// the project is free, writing asks, and so do commands that are not known to only
// read.
const Default = "assent's default"

// defaultTier is the lowest tier of another agent in a folder. It has a word on commands
// unless a file has one.
func defaultTier(dir string, saysShell bool) config.Tier {
	p := &config.Policy{
		File: Default, Secrets: roots.DefaultSecrets(),
		Roots: []roots.Root{{Name: ".", Host: dir, Mode: roots.ModeReadWrite, Source: Default}},
		OS:    config.OSSandbox{Network: sandbox.Network{On: true, Source: Default}},
	}
	if !saysShell {
		p.HasShell, p.Shell = true, shell.Config{Readonly: true}
	}
	return config.Tier{Kind: config.BuiltIn, Policy: p}
}

// quietTier is [defaultTier] for a user who chose the quiet policy. What it says about commands is
// for those that are held: where the agent runs them by itself, the careful word stays.
func quietTier(dir string, saysShell, staged bool) (config.Tier, error) {
	text, err := starter.Files.ReadFile(starter.Quiet)
	if err != nil {
		return config.Tier{}, err
	}
	p, err := config.Load(Quiet, text, dir)
	if err != nil {
		return config.Tier{}, err
	}
	p.Expect = nil // they are for who writes such a file
	switch {
	case saysShell:
		p.HasShell, p.Shell = false, shell.Config{}
	case !staged:
		p.Shell = shell.Config{Readonly: true}
	}
	return config.Tier{Kind: config.BuiltIn, Policy: p}, nil
}
