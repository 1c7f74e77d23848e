package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// An inspection collects the findings about one agent.
type inspection struct {
	Target
	Surroundings
	hook string // the file with our hook
	all  []Finding
	on   bool // the administrator's settings keep hooks on, whatever other files say
}

func (in *inspection) found(f Finding) {
	f.Agent = in.Agent.Name
	in.all = append(in.all, f)
}

// A layer is one file of settings.
type layer struct {
	scope Scope
	path  string
	text  []byte
	top   node // of JSON
	odd   []oddity
}

// layer reads a file. False is one that is not there, or that cannot be read, which is found.
func (in *inspection) layer(scope Scope, path string) (layer, bool) {
	l := layer{scope: scope, path: path}
	var err error
	l.text, err = in.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, false
	}
	if err != nil {
		in.note(scope, path, "assent cannot read it: "+err.Error(), "make it readable and try again")
	}
	return l, err == nil
}

// json reads a file of JSON. What cannot be parsed is found, with what the agent does then,
// if that matters.
func (in *inspection) json(scope Scope, path, then string) (layer, bool) {
	l, ok := in.layer(scope, path)
	if !ok || len(bytes.TrimSpace(l.text)) == 0 && path != in.hook {
		return l, false
	}
	var err error
	l.top, l.odd, err = parseOdd(l.text)
	if err != nil && then != "" {
		in.note(scope, path, "it is not JSON ("+err.Error()+"): "+then, "correct it")
	}
	return l, err == nil
}

// strict finds the first of each that is in the file and not JSON, except what the agent takes.
func (in *inspection) strict(l layer, then string, takes ...string) {
	for _, o := range l.odd {
		if !slices.Contains(takes, o.what) {
			takes = append(takes, o.what)
			in.at(l, o.at, false, fmt.Sprintf("there is %s, which is not JSON: %s", o.what, then), "take it out")
		}
	}
}

// note finds something about a file as a whole.
func (in *inspection) note(scope Scope, path, what, do string) {
	in.found(Finding{Scope: scope, Path: path, What: what, Do: do})
}

// at finds something at an offset of a file.
func (in *inspection) at(l layer, offset int, off bool, what, do string) {
	in.found(Finding{Scope: l.scope, Path: l.path, Line: l.line(offset), What: what, Do: do, Off: off})
}

// decoded is the value of a node, as encoding/json has it; nil if there is no node.
func (l layer) decoded(n *node) (out any) {
	if n == nil {
		return nil
	}
	if n.kind == '{' || n.kind == '[' { // it may have comments in it
		return l.composite(n)
	}
	_ = json.Unmarshal(l.text[n.start:n.end], &out) // it was parsed
	return out
}

func (l layer) composite(n *node) any {
	if n.kind == '[' {
		out := []any{}
		for i := range n.items {
			out = append(out, l.decoded(&n.items[i]))
		}
		return out
	}
	out := map[string]any{}
	for i := range n.members {
		out[n.members[i].key] = l.decoded(&n.members[i].value)
	}
	return out
}

// at is the node at the end of some keys, nil if there is none.
func (n *node) at(keys ...string) *node {
	for _, key := range keys {
		if n = n.member(key); n == nil {
			return nil
		}
	}
	return n
}

// knownOptions are those of an entry that do not keep an agent from waiting.
var knownOptions = strings.Fields(`type command args timeout onFailure name statusMessage failClosed matcher description`)

// whole finds what in our own entries keeps the agent from calling them for every tool.
func (in *inspection) whole(l layer) {
	for _, h := range in.handlers(l.text, &l.top, deciding[in.Agent.Name]) {
		if h.around != nil {
			matcher, _ := l.decoded(h.around.member("matcher")).(string)
			if m := h.around.member("matcher"); m != nil && !slices.Contains([]string{"", "*", ".*"}, matcher) {
				what := fmt.Sprintf("the hook is for %q alone: %s does not call it for other tools", matcher, in.Agent.Title)
				in.at(l, m.start, false, what, `make the matcher "*"`)
			}
		}
		for _, m := range h.entry.members {
			if !slices.Contains(knownOptions, m.key) {
				what := fmt.Sprintf("the hook has the option %q, and assent does not know whether %s still waits for its "+
					"answer then", m.key, in.Agent.Title)
				do := fmt.Sprintf("take it out, or run 'assent uninstall %s' and 'assent install %[1]s'", in.Agent.Name)
				in.at(l, m.start, false, what, do)
			}
		}
	}
}

// IfDead says what happens to a call when its hook is killed before it answers.
func (t Target) IfDead(text []byte) string {
	option := map[string]string{"claude-code": "onFailure", "cursor": "failClosed"}[t.Agent.Name]
	runs := t.Agent.Title + " runs the call"
	if option == "" {
		return runs
	}
	top, err := parse(text)
	if err != nil {
		return runs
	}
	l := layer{text: text, top: top}
	for _, h := range t.handlers(text, &top, deciding[t.Agent.Name]) {
		if v := l.decoded(h.entry.member(option)); v != "block" && v != true {
			return fmt.Sprintf("%s runs the call, because the hook lacks %s", t.Agent.Title, option)
		}
	}
	if t.Agent.Name == "cursor" {
		return "Cursor blocks the call, as its documentation says (failClosed)"
	}
	return t.Agent.Title + " blocks the call (onFailure)"
}

// gemini reads the settings as Gemini CLI does: comments are taken, anything else that is not
// JSON keeps it from starting.
func (in *inspection) gemini() {
	const then = "Gemini CLI does not start"
	var names []string // of our hooks: what the list of disabled ones goes by
	if l, ok := in.json(User, in.hook, ""); ok {
		for _, h := range in.handlers(l.text, &l.top, deciding["gemini"]) {
			name, _ := l.decoded(h.entry.member("name")).(string)
			if name == "" {
				name, _ = l.decoded(h.entry.member("command")).(string)
			}
			names = append(names, name)
		}
	}
	files := in.Files(in.Surroundings)
	system := files[len(files)-1].Path
	for _, f := range files {
		l, ok := in.json(f.Scope, f.Path, then)
		if !ok {
			continue
		}
		in.strict(l, then, aComment)
		if l.path == in.hook {
			in.whole(l)
		}
		in.geminiSwitches(l, names, f.Path == system && in.Rooted(system)) // it skips one that others can change
	}
	if in.hook != in.UserPath(in.Surroundings) {
		in.geminiTrust()
	}
}

// geminiSwitches finds what turns hooks off in one file.
func (in *inspection) geminiSwitches(l layer, names []string, last bool) {
	if n := l.top.at("hooksConfig", "enabled"); n != nil {
		switch v := l.decoded(n); {
		case v == true && last:
			in.on = true
		case v != true && v != nil:
			what := fmt.Sprintf("hooksConfig.enabled is %s: Gemini CLI calls no hook", l.text[n.start:n.end])
			in.at(l, n.start, true, what, "take it out, or make it true")
		}
	}
	disabled := l.top.at("hooksConfig", "disabled")
	if disabled == nil {
		return
	}
	if disabled.kind != '[' {
		const what = "hooksConfig.disabled is not a list, and assent does not know what Gemini CLI makes of it"
		in.at(l, disabled.start, false, what, "take it out")
	}
	for _, item := range disabled.items {
		name, _ := l.decoded(&item).(string)
		if slices.Contains(names, name) || strings.Contains(name, "$") {
			// The list adds up over all files: no other file takes a name out of it.
			in.found(Finding{Scope: l.scope, Path: l.path, Line: l.line(item.start), Off: true, stays: true,
				What: fmt.Sprintf("hooksConfig.disabled has %q: Gemini CLI does not call that hook", name),
				Do:   "take it out of the list"})
		}
	}
}

// geminiTrust finds that a project's settings are not read, because the folder is not trusted.
func (in *inspection) geminiTrust() {
	if in.value("GEMINI_CLI_TRUST_WORKSPACE") == "true" {
		return
	}
	path, folder := filepath.Join(in.UserFolder(in.Surroundings), "trustedFolders.json"), in.Surroundings.Folder
	if l, ok := in.json(User, path, "no folder is trusted"); ok {
		for _, m := range l.top.members {
			if l.decoded(&m.value) == "TRUST_FOLDER" && (m.key == folder || strings.HasPrefix(folder, m.key+"/")) {
				return
			}
		}
	}
	in.note(User, path, "it does not say that "+folder+" is trusted: Gemini CLI does not read the settings of a project "+
		"before you trust its folder", "start gemini there and trust the folder, or install for the user")
}

// cursor was not tried: what is not plain JSON may keep it from reading its hooks.
func (in *inspection) cursor() {
	const then = "assent does not know whether Cursor reads the file"
	l, ok := in.json(User, in.hook, then)
	if !ok {
		return
	}
	in.strict(l, then)
	in.whole(l)
	if v := l.decoded(l.top.member("version")); v != 1.0 {
		in.note(User, in.hook, "its version is not 1: "+then, `write "version": 1`)
	}
}
