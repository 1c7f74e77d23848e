package arch

import (
	"slices"
	"strings"
)

// modulePath is how packages of this module begin in an import.
const modulePath = "github.com/assent-dev/assent"

// line says what one package may import besides the standard library.
type line struct {
	inside  []string // packages of this module, by folder
	tests   []string // those that only its tests import
	outside []string // outside modules
	pure    bool     // no clock, no files, no network, no log: see pure.go
}

// everything, alone as inside, stands for all packages of the table but testHelpers.
const everything = "*"

// table has a line for every package there is or will be. Arrows are direct imports; a
// package that is not here may not exist.
var table = map[string]line{
	// The public packages.
	".": {
		inside: to("approval internal/selfexec internal/setup internal/setup/open internal/toolbox policy sandbox " +
			"store terminal tool"),
	},
	"approval":              {inside: to("audit internal/canonical internal/digest internal/redact policy present"), pure: true},
	"approval/approvaltest": {inside: to("approval audit policy store/sessions")},
	"audit":                 {inside: to("internal/digest"), pure: true},
	"policy":                {inside: to("internal/digest"), outside: []string{globs}, pure: true},
	"present":               {outside: []string{diffs}, pure: true},
	"sandbox":               {pure: true},
	"sandbox/bwrap": {
		inside:  to("sandbox sandbox/fingerprint sandbox/launch sandbox/prelude sandbox/seccomp"),
		outside: []string{system},
	},
	"sandbox/detect": {
		inside: to("sandbox sandbox/bwrap sandbox/fingerprint sandbox/landlock sandbox/rpc sandbox/seatbelt " +
			"sandbox/stage sandbox/wall"),
		outside: []string{system},
	},
	"sandbox/fingerprint": {outside: []string{system}},
	"sandbox/landlock": {
		inside:  to("sandbox sandbox/launch sandbox/seccomp sandbox/wall"),
		outside: []string{"github.com/landlock-lsm/go-landlock", system},
	},
	"sandbox/launch":   {inside: to("internal/gitconfig internal/realpath sandbox"), outside: []string{system}},
	"sandbox/prelude":  {inside: to("sandbox"), outside: []string{system}},
	"sandbox/refusal":  {inside: to("sandbox"), pure: true},
	"sandbox/rpc":      {inside: to("sandbox sandbox/launch")},
	"sandbox/seatbelt": {inside: to("sandbox sandbox/launch")},
	"sandbox/seccomp":  {pure: true},
	"sandbox/stage": {
		inside:  to("sandbox sandbox/launch"),
		tests:   to("sandbox/bwrap"),
		outside: []string{"golang.org/x/net", system},
	},
	"sandbox/wall": {inside: to("sandbox"), outside: []string{system}},
	"store": {
		inside:  to("approval audit policy store/group store/kept store/sessions"),
		outside: []string{"modernc.org/sqlite", system},
	},
	"store/group": {},
	"store/kept":  {inside: to("approval audit internal/redact policy"), pure: true},
	"store/postgres": {
		inside:  to("approval audit policy store/group store/kept store/sessions"),
		outside: []string{"github.com/jackc/pgx/v5"},
	},
	"store/sessions": {pure: true},
	"terminal": {
		inside:  to("approval policy present"),
		tests:   to("tool"),
		outside: []string{"charm.land/bubbletea/v2", highlighting, "github.com/charmbracelet/x/ansi", "github.com/charmbracelet/x/term", system},
	},
	"tool": {inside: to("approval internal/canonical policy present tool/hosts"), outside: []string{schemas}},
	"tool/command": {
		inside:  to("approval policy present sandbox tool tool/shell/runner"),
		tests:   to("internal/canonical sandbox/launch"),
		outside: []string{system},
	},
	"tool/connector": {
		inside: to("approval internal/canonical internal/redact policy present sandbox sandbox/launch tool " +
			"tool/shell/runner"),
		outside: []string{mcp},
	},
	"tool/files": {inside: to("approval policy present tool tool/roots"), outside: []string{globs, system}},
	"tool/hosts": {inside: to("policy sandbox"), pure: true},
	"tool/roots": {inside: to("internal/realpath policy")},
	"tool/shell": {
		inside: to("approval internal/redact policy present sandbox tool tool/hosts tool/roots tool/shell/analysis " +
			"tool/shell/programs tool/shell/wire"),
		tests: to("internal/canonical"),
	},
	"tool/shell/analysis": {
		inside:  to("tool/shell/programs tool/shell/subset"),
		outside: []string{"mvdan.cc/sh/v3"},
		pure:    true,
	},
	"tool/shell/inside": {
		inside:  to("sandbox/prelude sandbox/wall tool/shell/interp tool/shell/wire"),
		outside: []string{system, "mvdan.cc/sh/v3"},
	},
	"tool/shell/interp":   {outside: []string{system, "mvdan.cc/sh/v3"}},
	"tool/shell/programs": {pure: true},
	"tool/shell/runner": {
		inside:  to("sandbox sandbox/launch tool/shell tool/shell/wire"),
		tests:   to("tool/shell/inside"),
		outside: []string{system},
	},
	"tool/shell/runner/shim": {tests: to("tool/shell tool/shell/runner"), outside: []string{system}},
	"tool/shell/subset":      {pure: true},
	"tool/shell/system":      {inside: to("internal/gitconfig tool/shell/analysis"), outside: []string{system}},
	"tool/shell/wire":        {inside: to("sandbox"), pure: true},
	"tool/web": {
		inside:  to("internal/redact policy present tool tool/hosts"),
		tests:   to("approval internal/canonical"),
		outside: []string{"golang.org/x/net"},
	},

	// What the programs are made of.
	"internal/agents":     {inside: to("approval internal/canonical policy store/sessions")},
	"internal/agents/e2e": {tests: to("internal/agents internal/agents/permissions")},
	"internal/agents/foreign": {
		inside: to("policy present tool tool/files tool/hosts tool/roots tool/shell"),
		tests:  to("approval internal/canonical"),
	},
	"internal/agents/hook": {
		inside: to("approval internal/agents internal/agents/foreign internal/agents/permissions " +
			"internal/agents/staged internal/canonical internal/config internal/explain internal/notify internal/proof " +
			"internal/setup policy present sandbox store store/sessions tool tool/files tool/roots tool/shell " +
			"tool/shell/analysis tool/shell/runner tool/shell/subset tool/shell/system"),
		tests: to("internal/team/bundle internal/team/member internal/trust"),
	},
	"internal/agents/install": {
		inside: to("internal/agents internal/agents/hook internal/agents/permissions internal/agents/settings " +
			"internal/config internal/rulebook internal/setup internal/setup/open policy present store/sessions"),
	},
	"internal/agents/keeper": {
		inside: to("approval internal/agents internal/agents/foreign internal/agents/staged internal/notify " +
			"internal/setup internal/setup/open internal/toolbox policy present sandbox store tool tool/shell " +
			"tool/shell/inside"),
		outside: []string{system},
	},
	"internal/agents/permissions": {
		inside:  to("internal/agents internal/agents/settings internal/agents/words policy"),
		outside: []string{"github.com/BurntSushi/toml", "mvdan.cc/sh/v3"},
	},
	"internal/agents/prompttool": {
		inside:  to("internal/agents internal/agents/hook"),
		tests:   to("approval internal/setup policy store store/sessions"),
		outside: []string{mcp},
	},
	"internal/agents/settings": {inside: to("internal/agents"), outside: []string{"github.com/BurntSushi/toml"}},
	"internal/agents/staged":   {inside: to("policy present"), outside: []string{system}},
	"internal/agents/words":    {inside: to("policy tool/shell/programs"), pure: true},
	"internal/arch":            {},
	"internal/auditview": {
		inside:  to("approval audit internal/rulebook policy present store"),
		outside: []string{"github.com/charmbracelet/x/ansi"},
	},
	"internal/benchtable": {},
	"internal/canonical":  {pure: true},
	"internal/check": {
		inside: to("internal/config internal/explain internal/toolbox policy tool tool/command tool/roots " +
			"tool/shell/programs"),
	},
	"internal/config": {
		inside: to("internal/agents/words internal/canonical internal/realpath policy sandbox tool tool/command " +
			"tool/hosts tool/roots tool/shell tool/shell/runner"),
		outside: []string{yamlModule, schemas},
	},
	"internal/corpus": {inside: to("internal/config internal/explain internal/toolbox policy tool")},
	"internal/crew": {
		inside: to("approval internal/config internal/setup/open internal/toolbox internal/worker policy present " +
			"tool tool/roots"),
		outside: []string{yamlModule, schemas},
	},
	"internal/demo": {
		inside: to("approval internal/config internal/model internal/runs internal/setup internal/setup/open " +
			"internal/worker policy present terminal tool tool/files"),
	},
	"internal/digest":  {pure: true},
	"internal/explain": {inside: to("approval internal/canonical policy present tool/hosts")},
	"internal/explain/doors": {
		inside: to("internal/agents internal/agents/foreign internal/agents/hook internal/config internal/explain " +
			"internal/setup internal/setup/open policy tool/shell/analysis"),
	},
	"internal/gateway": {
		inside:  to("approval internal/canonical policy present store/sessions tool tool/connector"),
		tests:   to("sandbox/launch"),
		outside: []string{mcp},
	},
	"internal/gitconfig": {pure: true},
	"internal/golden":    {outside: []string{"github.com/google/go-cmp"}},
	"internal/home":      {inside: to("internal/config internal/gitconfig sandbox sandbox/launch")},
	"internal/inbox":     {inside: to("approval policy present store/sessions terminal")},
	"internal/mcpserver": {
		inside: to("approval internal/config internal/gateway internal/runs internal/setup internal/setup/open " +
			"policy store tool tool/connector"),
	},
	"internal/mcptest": {inside: to("internal/reexec"), outside: []string{mcp}},
	"internal/model":   {inside: to("approval internal/redact internal/worker policy"), outside: []string{yamlModule}},
	"internal/model/anthropic": {
		inside:  to("internal/model internal/worker"),
		outside: []string{"github.com/anthropics/anthropic-sdk-go"},
	},
	"internal/model/modeltest": {inside: to("internal/model internal/worker")},
	"internal/model/openai": {
		inside:  to("internal/model internal/worker"),
		outside: []string{"github.com/openai/openai-go/v3"},
	},
	"internal/model/providers": {
		inside:  to("internal/model internal/model/anthropic internal/model/openai internal/worker"),
		outside: []string{"github.com/zalando/go-keyring"},
	},
	"internal/network": {inside: to("sandbox sandbox/stage tool tool/hosts"), outside: []string{"golang.org/x/net"}},
	"internal/notify":  {inside: to("approval internal/redact present"), tests: to("policy")},
	"internal/pgtest":  {outside: []string{"github.com/jackc/pgx/v5"}},
	"internal/picture": {inside: to("internal/screen"), outside: []string{"github.com/creack/pty"}},
	"internal/quiet": {
		inside:  to("internal/explain"),
		tests:   to("internal/setup internal/setup/open"),
		outside: []string{"github.com/rogpeppe/go-internal"},
	},
	"internal/proof":    {inside: to("approval internal/canonical policy")},
	"internal/realpath": {},
	"internal/redact":   {inside: to("internal/canonical"), pure: true},
	"internal/reexec":   {},
	"internal/rounds":   {},
	"internal/rulebook": {
		inside: to("approval internal/agents/words internal/config internal/explain internal/realpath policy present " +
			"store tool/shell/programs"),
	},
	"internal/runs": {
		inside: to("approval internal/config internal/crew internal/explain internal/model/providers " +
			"internal/network internal/notify internal/rulebook internal/setup internal/setup/open " +
			"internal/worker policy present sandbox sandbox/detect sandbox/stage store store/sessions " +
			"terminal tool tool/command tool/connector tool/hosts tool/roots"),
		tests: to("internal/trust"),
	},
	"internal/screen": {outside: []string{"github.com/charmbracelet/x/ansi"}},
	"internal/selfexec": {
		inside: to("internal/setup internal/setup/open sandbox/bwrap sandbox/detect sandbox/landlock sandbox/rpc " +
			"sandbox/stage tool/files tool/shell/inside"),
	},
	"internal/setup": {
		inside: to("approval internal/config internal/realpath internal/starter internal/team/link internal/team/member " +
			"internal/trust policy sandbox sandbox/fingerprint tool/roots tool/shell"),
	},
	"internal/setup/open": {
		inside: to("approval internal/config internal/explain internal/gateway internal/home internal/network " +
			"internal/proof internal/setup internal/snapshot internal/team/link internal/toolbox policy present sandbox sandbox/bwrap " +
			"sandbox/detect sandbox/launch sandbox/stage store store/sessions tool tool/command " +
			"tool/connector tool/files tool/hosts tool/roots"),
	},
	"internal/snapshot": {inside: to("internal/gitconfig policy tool/roots tool/shell"), outside: []string{system}},
	"internal/soundness": {
		tests: to("internal/canonical internal/config internal/explain internal/toolbox policy sandbox tool " +
			"tool/shell tool/shell/analysis tool/shell/programs tool/shell/runner"),
		outside: []string{system},
	},
	"internal/starter": {},
	"internal/health": {
		inside: to("approval internal/agents internal/agents/hook internal/agents/install internal/agents/settings " +
			"internal/check internal/config internal/rulebook internal/setup internal/setup/open policy present sandbox " +
			"sandbox/detect store store/sessions terminal tool/shell/runner internal/team/link internal/team/member"),
		outside: []string{system},
	},
	"internal/team/admin": {
		inside: to("approval audit internal/config internal/explain internal/proof internal/rulebook internal/team/bundle internal/team/db " +
			"internal/team/log internal/team/wire policy present"),
		outside: []string{notes},
	},
	"internal/team/bundle": {
		inside:  to("approval internal/config internal/proof policy"),
		outside: []string{notes},
	},
	"internal/team/member": {
		inside:  to("approval internal/config internal/team/bundle internal/team/link policy"),
		tests:   to("internal/proof"),
		outside: []string{notes},
	},
	"internal/team/db": {
		inside:  to("approval audit internal/team/log internal/team/wire policy store/postgres"),
		tests:   to("internal/canonical present"),
		outside: []string{"github.com/jackc/pgx/v5", "golang.org/x/mod"},
	},
	"internal/team/log": {inside: to("audit internal/team/wire"), outside: []string{"golang.org/x/mod"}},
	"internal/team/server": {
		inside: to("approval internal/config internal/team/admin internal/team/bundle internal/team/db internal/team/wire internal/webhook " +
			"policy present"),
		tests: to("audit"),
		outside: []string{yamlModule, "github.com/jackc/pgx/v5", "github.com/standard-webhooks/standard-webhooks",
			"golang.org/x/mod", "golang.org/x/net"},
	},
	"internal/team/bridge": {
		inside: to("approval audit internal/config internal/team/bundle internal/team/link internal/team/member " +
			"internal/team/wire policy present store"),
		outside: []string{notes},
	},
	"internal/team/link": {},
	"internal/team/e2e":  {tests: to("approval internal/config internal/team/bundle internal/team/db internal/team/link internal/team/member internal/team/server policy store")},
	"internal/team/people": {
		inside: to("approval internal/canonical internal/proof internal/team/bundle internal/team/db internal/team/signin internal/team/wire internal/web " +
			"policy present"),
		tests:   to("internal/team/teamtest"),
		outside: []string{"github.com/danielgtaylor/huma/v2", "github.com/go-webauthn/webauthn"},
	},
	"internal/team/signin": {
		inside: to("approval internal/proof internal/team/db present"),
		tests:  to("internal/team/teamtest"),
		outside: []string{"github.com/alexedwards/scs/v2", "github.com/coreos/go-oidc/v3", "github.com/go-webauthn/webauthn",
			"golang.org/x/oauth2"},
	},
	"internal/team/teamtest": {
		inside: to("approval internal/config internal/team/bundle internal/team/db internal/team/member internal/team/people " +
			"internal/team/signin internal/team/testissuer internal/team/wire policy present"),
		outside: []string{"github.com/jackc/pgx/v5", "golang.org/x/mod"},
	},
	"internal/team/testissuer": {outside: []string{openID}},
	"internal/team/bridgetest": {
		inside:  to("approval audit internal/proof internal/team/bundle internal/team/wire policy"),
		outside: []string{notes},
	},
	"internal/team/wire": {inside: to("approval policy"), outside: []string{notes}},
	"internal/toolbox": {
		inside: to("approval internal/config internal/home internal/network internal/snapshot policy sandbox " +
			"sandbox/bwrap sandbox/launch sandbox/refusal sandbox/rpc sandbox/stage sandbox/wall tool " +
			"tool/command tool/files tool/hosts tool/roots tool/shell tool/shell/analysis tool/shell/inside " +
			"tool/shell/programs tool/shell/runner tool/shell/runner/shim tool/shell/system tool/shell/wire " +
			"tool/web"),
		tests:   to("store"),
		outside: []string{system},
	},
	"internal/trust": {inside: to("internal/config policy present tool tool/command tool/roots")},
	"internal/undo": {
		inside: to("internal/setup internal/setup/open internal/snapshot present tool/files tool/roots"),
	},
	"internal/web": {
		inside:  to("approval audit internal/proof policy present"),
		tests:   to("internal/inbox store"),
		outside: []string{"github.com/danielgtaylor/huma/v2"},
	},
	"internal/webhook": {inside: to("tool/hosts"), outside: []string{"github.com/standard-webhooks/standard-webhooks"}},
	"internal/worker":  {inside: to("approval policy tool")},

	// The programs.
	"cmd/assent": {inside: []string{everything}, outside: []string{"github.com/spf13/cobra", notes}},
	"cmd/assent-hook": {
		inside: to("internal/agents/hook"),
		tests:  to("approval internal/agents/staged policy store store/sessions"),
	},
	"cmd/assent-shell": {inside: to("sandbox/bwrap sandbox/stage tool/shell/inside")},

	// The demo of a team starts the real programs. It has only the sign-in service of the tests inside itself, and the
	// passkeys of people who are not there.
	"examples/team": {
		inside:  to("approval internal/team/testissuer policy present"),
		outside: []string{"github.com/descope/virtualwebauthn", passkeys},
	},
}

// Modules that more than one line names, or whose name does not say what they are for.
const (
	diffs        = "znkr.io/diff"
	globs        = "github.com/bmatcuk/doublestar/v4"
	highlighting = "github.com/alecthomas/chroma/v2"
	system       = "golang.org/x/sys"
	notes        = "golang.org/x/mod"
	openID       = "github.com/coreos/go-oidc/v3"
	passkeys     = "github.com/go-webauthn/webauthn"
	yamlModule   = "github.com/goccy/go-yaml"
	schemas      = "github.com/google/jsonschema-go"
	mcp          = "github.com/modelcontextprotocol/go-sdk"
)

// to are folders, written one after another.
func to(folders string) []string { return strings.Fields(folders) }

// examples is the line of every package below examples/ that has none of its own: what a program outside this
// module could import.
var examples = line{
	inside: to(". present policy audit approval approval/approvaltest sandbox terminal tool tool/roots " +
		"tool/files tool/shell tool/web tool/command tool/connector"),
	outside: []string{mcp},
}

// testHelpers and testModules may be imported by every test, and by nothing that ships
// unless its own line says so.
var (
	testHelpers = to("approval/approvaltest internal/golden internal/mcptest internal/model/modeltest internal/pgtest " +
		"internal/reexec internal/rounds internal/screen internal/team/bridgetest internal/team/teamtest internal/team/testissuer " +
		"tool/shell/runner/shim tool/shell/system")
	testModules = []string{
		"github.com/google/go-cmp",
		"pgregory.net/rapid",
		"github.com/rogpeppe/go-internal",
		"github.com/creack/pty",
		"github.com/chromedp",
		"github.com/descope/virtualwebauthn",
		"github.com/descope/virtualwebauthn",
		"github.com/go-webauthn/webauthn",
		"mvdan.cc/sh/v3",
	}
)

// allows reports whether a package with this line may import the folder.
func (l line) allows(folder string) bool {
	if slices.Equal(l.inside, []string{everything}) {
		_, known := table[folder]
		return known && !slices.Contains(testHelpers, folder)
	}
	return slices.Contains(l.inside, folder)
}
