package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/BurntSushi/toml"
)

// ignores is what Codex does with a hooks.json that it cannot read.
const ignores = "Codex ignores the whole file, and its hooks with it"

// codex reads the settings as Codex does: its configuration for what turns hooks off and for
// what is trusted, and hooks.json.
func (in *inspection) codex() {
	var config map[string]any
	user := filepath.Join(in.UserFolder(in.Surroundings), "config.toml")
	for _, f := range in.Files(in.Surroundings) {
		top := in.codexFeatures(f.Scope, f.Path, f.Scope == Managed && filepath.Base(f.Path) != "config.toml")
		if f.Path == user {
			config = top
		}
	}
	l, ok := in.json(User, in.hook, ignores)
	if !ok {
		return
	}
	in.strict(l, ignores)
	for _, m := range l.top.members {
		if m.key != "hooks" && m.key != "description" {
			in.at(l, m.start, false, fmt.Sprintf("Codex does not know the key %q: %s", m.key, ignores), "take it out")
		}
	}
	in.codexShape(l)
	in.whole(l)
	if in.hook != in.UserPath(in.Surroundings) {
		in.codexProject(config, user)
	}
	in.codexTrust(l, config, user)
}

// codexFeatures reads one file of TOML for what turns hooks off. Last are those files that
// others cannot overrule.
func (in *inspection) codexFeatures(scope Scope, path string, last bool) (top map[string]any) {
	l, ok := in.layer(scope, path)
	if !ok {
		return nil
	}
	if _, err := toml.Decode(string(l.text), &top); err != nil {
		line, why := 0, err.Error()
		if p := (toml.ParseError{}); errors.As(err, &p) {
			line, why = p.Position.Line, p.Message
		}
		what := "it is not TOML (" + why + "): Codex does not start"
		in.found(Finding{Scope: scope, Path: path, Line: line, What: what, Do: "correct it"})
		return nil
	}
	for _, table := range []string{"features", "feature_requirements"} {
		features, isTable := top[table].(map[string]any)
		if top[table] != nil && !isTable {
			in.found(Finding{Scope: scope, Path: path, Line: l.tomlLine(table), Do: "correct it",
				What: table + " is not a table: Codex does not start"})
		}
		for _, name := range []string{"hooks", "codex_hooks"} {
			switch v, set := features[name]; {
			case set && v == true && last:
				in.on = true
			case set && v != true:
				in.found(Finding{Scope: scope, Path: path, Line: l.tomlLine(name), Off: true,
					What: fmt.Sprintf("%s.%s is %v: Codex calls no hook", table, name, v), Do: "take it out, or make it true"})
			}
		}
	}
	if v, set := top["allow_managed_hooks_only"]; set && v != false {
		in.found(Finding{Scope: scope, Path: path, Line: l.tomlLine("allow_managed_hooks_only"), Off: true,
			What: "allow_managed_hooks_only is set: Codex calls only the hooks of the administrator",
			Do:   "have your administrator change it"})
	}
	return top
}

// tomlLine is the first line that gives a key a value, 0 if none is plain about it.
func (l layer) tomlLine(key string) int {
	at := regexp.MustCompile(`(?m)^[^#\n]*\b` + regexp.QuoteMeta(key) + `["']?\s*=`).FindIndex(l.text)
	if at == nil {
		return 0
	}
	return l.line(at[0])
}

// line is the number of the line at an offset.
func (l layer) line(offset int) int { return 1 + bytes.Count(l.text[:offset], []byte("\n")) }

// codexShape finds what Codex does not take in the lists of hooks, of all events.
func (in *inspection) codexShape(l layer) {
	hooks := l.top.member("hooks")
	if hooks == nil {
		return
	}
	if hooks.kind != '{' {
		in.at(l, hooks.start, false, "hooks must be an object: "+ignores, "correct it")
	}
	for _, m := range hooks.members {
		if m.value.kind != '[' {
			in.at(l, m.start, false, m.key+" must be a list: "+ignores, "correct it")
		}
		for i := range m.value.items {
			if group := &m.value.items[i]; !codexGroup(l.decoded(group)) {
				in.at(l, group.start, false, "this must be a matcher with hooks of a known type: "+ignores, "correct it")
			}
		}
	}
}

func codexGroup(v any) bool {
	group, ok := v.(map[string]any)
	if !ok || !fieldsAre(group, []string{"matcher"}, isText) || !fieldsAre(group, []string{"hooks"}, isList) {
		return false
	}
	entries, _ := group["hooks"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		known := slices.Contains([]any{"command", "mcp_tool", "prompt", "agent"}, entry["type"])
		if !known || entry["type"] == "command" && !isText(entry["command"]) ||
			!fieldsAre(entry, []string{"statusMessage"}, isText) ||
			!fieldsAre(entry, []string{"async"}, isBool) || !fieldsAre(entry, []string{"timeout"}, isCount) {
			return false
		}
	}
	return true
}

func isCount(v any) bool {
	n, ok := v.(float64)
	return ok && n >= 0 && n == float64(int64(n))
}

// codexProject finds that a project's settings are not read because it is not trusted.
func (in *inspection) codexProject(config map[string]any, user string) {
	projects, _ := config["projects"].(map[string]any)
	for _, p := range in.Projects() {
		if project, _ := projects[p].(map[string]any); project["trust_level"] == "trusted" {
			return
		}
	}
	in.note(User, user, "it does not say that "+in.Surroundings.Folder+" is trusted: Codex does not read the hooks of a "+
		"project before you trust it", "start codex there and trust the folder, or install for the user")
}

// codexEvents are the events that Codex must call us for, with its names for them where it
// notes what is trusted.
var codexEvents = map[string]string{"PreToolUse": "pre_tool_use", "PermissionRequest": "permission_request"}

// codexTrust finds the hooks of ours that Codex does not run because its user has not trusted
// them as they are now, or has turned them off. Codex notes a digest of each in config.toml.
func (in *inspection) codexTrust(l layer, config map[string]any, user string) {
	const do = "start codex, enter /hooks, and trust the hooks of assent"
	hooks, _ := config["hooks"].(map[string]any)
	states, _ := hooks["state"].(map[string]any)
	ours := in.handlers(l.text, &l.top, []string{"PreToolUse", "PermissionRequest"})
	for _, event := range []string{"PreToolUse", "PermissionRequest"} {
		if !slices.ContainsFunc(ours, func(h handler) bool { return h.event == event }) {
			in.note(User, in.hook, "it has no hook of assent's for "+event, "run 'assent install codex'")
		}
	}
	for _, h := range ours {
		name := codexEvents[h.event]
		key := fmt.Sprintf("%s:%s:%d:%d", in.hook, name, h.group, h.index)
		state, _ := states[key].(map[string]any)
		noted, _ := state["trusted_hash"].(string)
		f := Finding{Scope: User, Path: user, Line: in.stateLine(user, key), Do: do}
		switch digest := codexDigest(name, l, h); {
		case noted == "":
			f.What = "Codex runs a hook only after you have trusted it, and " + name + " was not trusted: until then " +
				"it asks nobody"
		case digest == "":
			f.What = "whether " + name + " is trusted is unknown, because the hook has options that assent does not write"
		case noted != digest:
			f.What = "the hook " + name + " is not the one that was trusted: Codex does not run it"
		case state["enabled"] != nil && state["enabled"] != true:
			f.What = "the hook " + name + " is turned off: Codex does not run it"
			f.Do = "start codex, enter /hooks, and turn it on"
		default:
			continue
		}
		in.found(f)
	}
}

// stateLine is the line of config.toml that begins what is noted about a hook, 0 if there is none.
func (in *inspection) stateLine(user, key string) int {
	c, ok := in.layer(User, user)
	if at := bytes.Index(c.text, []byte(key)); ok && at >= 0 {
		return c.line(at)
	}
	return 0
}

// codexDigest is what Codex notes about a hook that is trusted: the SHA-256 of its JSON, with
// sorted keys, without blanks, and with what Codex takes for the options that are not there.
// It is "" for an entry with options that it is not known for.
func codexDigest(event string, l layer, h handler) string {
	entry, _ := l.decoded(h.entry).(map[string]any)
	normal := map[string]any{"type": "command", "command": entry["command"], "timeout": 600.0, "async": false}
	for key, v := range entry {
		switch key {
		case "type", "command":
		case "statusMessage":
			normal[key] = v
		case "timeout":
			seconds, ok := v.(float64)
			if !ok {
				return ""
			}
			normal[key] = max(seconds, 1)
		case "async":
			if v != false {
				return ""
			}
		default:
			return ""
		}
	}
	identity := map[string]any{"event_name": event, "hooks": []any{normal}}
	if h.around != nil && h.around.member("matcher") != nil {
		identity["matcher"] = l.decoded(h.around.member("matcher"))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(identity) != nil {
		return ""
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}
