package arch

import "slices"

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
	"present":  {outside: []string{diffs}, pure: true},
	"policy":   {inside: []string{"internal/digest"}, outside: []string{globs}, pure: true},
	"audit":    {inside: []string{"internal/digest"}, pure: true},
	"approval": {inside: []string{"audit", "internal/canonical", "internal/digest", "internal/redact", "policy", "present"}, pure: true},

	"approval/approvaltest": {inside: []string{"approval", "present"}},

	"sandbox":          {pure: true},
	"sandbox/seccomp":  {pure: true},
	"sandbox/machine":  {outside: []string{system}},
	"sandbox/host":     {inside: []string{"internal/gitconfig", "internal/realpath", "sandbox"}, outside: []string{system}},
	"sandbox/prelude":  {inside: []string{"sandbox"}, outside: []string{system}},
	"sandbox/wall":     {inside: []string{"sandbox"}, outside: []string{system}},
	"sandbox/bwrap":    {inside: []string{"sandbox", "sandbox/host", "sandbox/machine", "sandbox/prelude", "sandbox/seccomp"}, outside: []string{system}},
	"sandbox/stage":    {inside: []string{"sandbox", "sandbox/host"}, tests: []string{"sandbox/bwrap"}, outside: []string{"golang.org/x/net", system}},
	"sandbox/landlock": {inside: []string{"sandbox", "sandbox/host", "sandbox/seccomp", "sandbox/wall"}, outside: []string{"github.com/landlock-lsm/go-landlock", system}},
	"sandbox/seatbelt": {inside: []string{"sandbox", "sandbox/host"}},
	"sandbox/inner":    {inside: []string{"sandbox"}},
	"sandbox/refusal":  {inside: []string{"sandbox"}, pure: true},
	"sandbox/detect":   {inside: []string{"sandbox", "sandbox/bwrap", "sandbox/inner", "sandbox/landlock", "sandbox/machine", "sandbox/seatbelt", "sandbox/stage", "sandbox/wall"}, outside: []string{system}},

	"tool":           {inside: []string{"approval", "present", "sandbox", "tool/hosts"}, outside: []string{schemas}},
	"tool/roots":     {inside: []string{"approval", "internal/realpath"}},
	"tool/hosts":     {inside: []string{"approval", "sandbox"}, pure: true},
	"tool/files":     {inside: underTool, outside: []string{globs, "golang.org/x/sys"}},
	"tool/shell":     {inside: append([]string{"tool/hosts", "tool/shell/analysis", "tool/shell/programs", "tool/shell/wire"}, underTool...)},
	"tool/web":       {inside: append([]string{"tool/hosts"}, underTool...), outside: []string{"golang.org/x/net"}},
	"tool/command":   {inside: append([]string{"sandbox/launch", "tool/shell/runner"}, underTool...), outside: []string{system}},
	"tool/connector": {inside: append([]string{"sandbox/launch", "tool/shell/runner"}, underTool...), outside: []string{mcp}},

	"tool/shell/subset":      {pure: true},
	"tool/shell/programs":    {pure: true},
	"tool/shell/analysis":    {inside: []string{"tool/shell/programs", "tool/shell/subset"}, outside: []string{"mvdan.cc/sh/v3"}, pure: true},
	"tool/shell/interp":      {outside: []string{"mvdan.cc/sh/v3", "golang.org/x/sys"}},
	"tool/shell/system":      {inside: []string{"internal/gitconfig", "tool/shell/analysis"}, outside: []string{"golang.org/x/sys"}},
	"tool/shell/wire":        {inside: []string{"sandbox"}, pure: true},
	"tool/shell/inside":      {inside: []string{"sandbox/prelude", "sandbox/wall", "tool/shell/interp", "tool/shell/wire"}, outside: []string{"mvdan.cc/sh/v3", "golang.org/x/sys"}},
	"tool/shell/runner":      {inside: []string{"sandbox", "sandbox/launch", "tool/shell", "tool/shell/inside", "tool/shell/wire"}, outside: []string{"golang.org/x/sys"}},
	"tool/shell/runner/shim": {inside: []string{"tool/shell/runner"}, tests: []string{"tool/shell"}, outside: []string{"golang.org/x/sys"}},

	"store": {inside: []string{"approval", "present"}, outside: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5"}},

	"internal/config":  {inside: append([]string{"approval", "internal/realpath", "sandbox", "tool", "tool/roots", "tool/hosts", "tool/shell/runner"}, toolsets...), outside: []string{yamlModule, schemas}},
	"internal/term":    {inside: []string{"approval", "present"}, outside: []string{"charm.land/bubbletea/v2", "charm.land/lipgloss/v2", "github.com/charmbracelet/x/ansi", "github.com/charmbracelet/x/term", highlighting, "golang.org/x/sys"}},
	"internal/inbox":   {inside: []string{"approval", "present", "internal/term"}},
	"internal/notify":  {inside: []string{"approval", "present"}},
	"internal/worker":  {inside: []string{"tool", "approval", "present", "sandbox", "internal/config"}},
	"internal/model":   {inside: []string{"internal/worker", "approval"}, outside: []string{yamlModule}},
	"internal/gateway": {inside: []string{"tool", "tool/connector", "approval", "present", "sandbox/launch"}, outside: []string{mcp}},
	"internal/agents":  {inside: []string{"approval"}},

	"internal/agents/e2e":     {tests: []string{"internal/agents", "internal/agents/permissions", "internal/screen"}},
	"internal/agents/foreign": {inside: []string{"approval", "present", "tool", "tool/files", "tool/hosts", "tool/roots", "tool/shell"}},
	"internal/agents/hook": {inside: []string{
		"approval", "internal/agents", "internal/agents/foreign", "internal/agents/permissions", "internal/agents/staged", "internal/config", "internal/explain", "internal/notify", "internal/setup", "internal/trust", "present", "sandbox",
		"store", "tool", "tool/files", "tool/roots", "tool/shell", "tool/shell/analysis", "tool/shell/system", "tool/shell/runner", "tool/shell/subset",
	}},
	"internal/agents/install": {inside: []string{
		"approval", "internal/agents", "internal/agents/hook", "internal/agents/settings", "internal/config", "internal/setup",
		"internal/setup/open", "present",
	}},
	"internal/agents/staged": {inside: []string{"approval", "present"}, outside: []string{system}},
	"internal/agents/keeper": {inside: []string{
		"approval", "internal/agents", "internal/agents/foreign", "internal/agents/staged", "internal/notify", "internal/setup", "internal/setup/open", "internal/toolbox",
		"present", "sandbox", "store", "tool", "tool/shell", "tool/shell/inside",
	}, outside: []string{system}},
	"internal/agents/permissions": {inside: []string{"internal/agents", "internal/agents/settings"}, outside: []string{"github.com/BurntSushi/toml", "mvdan.cc/sh/v3"}},
	"internal/agents/prompttool":  {inside: []string{"approval", "internal/agents", "internal/agents/hook", "internal/setup", "store"}, outside: []string{mcp}},
	"internal/agents/settings":    {inside: []string{"internal/agents"}, outside: []string{"github.com/BurntSushi/toml"}},

	"internal/canonical": {pure: true},
	"internal/digest":    {pure: true},
	"internal/redact":    {inside: []string{"internal/canonical"}, pure: true},
	"internal/realpath":  {},
	"internal/network":   {inside: []string{"sandbox", "sandbox/stage", "tool", "tool/hosts"}, outside: []string{"golang.org/x/net"}},
	"internal/snapshot":  {inside: []string{"approval", "internal/gitconfig", "tool/roots", "tool/shell"}, outside: []string{system}},
	"internal/setup": {inside: []string{
		"approval", "internal/config", "internal/realpath", "internal/starter", "internal/trust", "sandbox", "sandbox/machine", "tool/roots",
		"tool/shell",
	}},
	"internal/setup/open": {inside: []string{
		"approval", "internal/config", "internal/explain", "internal/gateway", "internal/home", "internal/network", "internal/setup", "internal/snapshot", "internal/toolbox", "present",
		"sandbox", "sandbox/bwrap", "sandbox/detect", "sandbox/launch", "sandbox/stage", "store", "tool", "tool/command", "tool/connector", "tool/files", "tool/hosts", "tool/roots",
	}},

	"internal/starter": {},
	"internal/trust":   {inside: []string{"approval", "internal/config", "present", "tool", "tool/command", "tool/roots"}},
	"internal/check": {inside: []string{
		"approval", "internal/config", "internal/explain", "internal/toolbox", "tool", "tool/command", "tool/roots", "tool/shell/programs",
	}},

	"internal/explain":   {inside: []string{"approval", "present", "tool/hosts"}},
	"internal/rulebook":  {inside: []string{"approval", "present", "internal/config", "internal/explain", "store", "tool/shell/programs"}},
	"internal/auditview": {inside: []string{"approval", "present", "store", "internal/rulebook"}, outside: []string{"github.com/charmbracelet/x/ansi"}},
	"internal/home":      {inside: []string{"internal/config", "internal/gitconfig", "sandbox", "sandbox/host"}},
	"internal/toolbox": {inside: append([]string{
		"approval", "internal/config", "internal/home", "internal/network", "internal/snapshot", "sandbox", "sandbox/bwrap", "sandbox/refusal", "sandbox/host", "sandbox/inner", "sandbox/stage", "sandbox/wall", "tool", "tool/hosts", "tool/roots",
		"tool/shell/analysis", "tool/shell/host", "tool/shell/inside", "tool/shell/programs", "tool/shell/runner", "tool/shell/runner/shim", "tool/shell/wire",
	}, toolsets...), outside: []string{system}, tests: []string{"store"}},
	"internal/crew": {
		inside:  []string{"approval", "internal/config", "internal/setup/open", "internal/toolbox", "internal/worker", "present", "tool", "tool/roots"},
		outside: []string{schemas, yamlModule},
	},
	"internal/explain/doors": {inside: []string{
		"approval", "internal/agents", "internal/agents/foreign", "internal/agents/hook", "internal/config", "internal/explain",
		"internal/setup", "internal/setup/open", "tool/shell/analysis",
	}},
	"internal/mcpserver": {inside: []string{
		"approval", "internal/config", "internal/gateway", "internal/runs", "internal/setup", "internal/setup/open", "store",
		"tool", "tool/connector",
	}},
	"internal/undo": {inside: []string{
		"internal/setup", "internal/setup/open", "internal/snapshot", "present", "tool/files", "tool/roots",
	}},
	"internal/runs": {inside: []string{
		"approval", "internal/config", "internal/crew", "internal/explain", "internal/model/providers", "internal/network",
		"internal/notify", "internal/rulebook", "internal/setup", "internal/setup/open", "internal/term", "internal/worker",
		"present", "sandbox", "sandbox/detect", "sandbox/stage", "store", "tool", "tool/command", "tool/connector", "tool/hosts", "tool/roots",
	}, tests: []string{"internal/trust"}},
	"internal/demo": {inside: []string{
		"approval", "internal/config", "internal/model", "internal/runs", "internal/setup", "internal/setup/open",
		"internal/term", "internal/worker", "present", "tool", "tool/files",
	}},
	"internal/corpus": {inside: []string{"approval", "internal/config", "internal/explain", "internal/toolbox", "tool"}},

	"internal/model/anthropic": {inside: []string{"internal/model", "internal/worker"}, outside: []string{"github.com/anthropics/anthropic-sdk-go"}},
	"internal/model/openai":    {inside: []string{"internal/model", "internal/worker"}, outside: []string{"github.com/openai/openai-go/v3"}},
	"internal/model/providers": {inside: []string{"internal/model", "internal/model/anthropic", "internal/model/openai", "internal/worker"}, outside: []string{"github.com/zalando/go-keyring"}},
	"internal/model/modeltest": {inside: []string{"internal/model", "internal/worker"}},

	"internal/arch":       {},
	"internal/benchtable": {},
	"internal/golden":     {outside: []string{"github.com/google/go-cmp"}},
	"internal/gitconfig":  {pure: true},
	"internal/quiet":      {inside: []string{"internal/explain", "internal/setup", "internal/setup/open"}, outside: []string{"github.com/rogpeppe/go-internal"}},
	"internal/rounds":     {},
	"internal/mcptest":    {outside: []string{mcp}},
	"internal/soundness":  {inside: []string{"approval", "internal/config", "internal/explain", "internal/toolbox", "sandbox", "tool", "tool/shell", "tool/shell/analysis", "tool/shell/system", "tool/shell/programs", "tool/shell/runner"}, outside: []string{system}},
	"internal/screen":     {outside: []string{"github.com/charmbracelet/x/ansi"}},

	"cmd/assent-shell": {inside: []string{"sandbox/bwrap", "sandbox/stage", "tool/shell/inside"}},
	"cmd/assent-hook":  {inside: []string{"approval", "internal/agents/hook", "store"}, tests: []string{"internal/agents/staged"}},

	"cmd/assent": {inside: []string{everything}, outside: []string{"github.com/spf13/cobra"}},
}

// Modules that more than one line names, or whose name does not say what they are for.
const (
	diffs        = "znkr.io/diff"
	globs        = "github.com/bmatcuk/doublestar/v4"
	highlighting = "github.com/alecthomas/chroma/v2"
	system       = "golang.org/x/sys"
	yamlModule   = "github.com/goccy/go-yaml"
	schemas      = "github.com/google/jsonschema-go"
	mcp          = "github.com/modelcontextprotocol/go-sdk"
)

var (
	toolsets  = []string{"tool/files", "tool/shell", "tool/web", "tool/command", "tool/connector"}
	underTool = []string{"tool", "tool/roots", "approval", "present", "sandbox"}
)

// withApproval are the packages in whose words approval speaks: whoever may import it may import
// them too.
var withApproval = []string{"policy", "audit", "internal/canonical", "internal/redact"}

// examples is the line of every package below examples/: what a program outside this
// module could import.
var examples = line{inside: append([]string{
	"present", "policy", "audit", "approval", "approval/approvaltest", "sandbox", "tool", "tool/roots",
}, toolsets...), outside: []string{mcp}}

// testHelpers and testModules may be imported by every test, and by nothing that ships
// unless its own line says so.
var (
	testHelpers = []string{"approval/approvaltest", "internal/golden", "internal/mcptest", "internal/model/modeltest", "internal/rounds", "internal/screen", "tool/shell/system", "tool/shell/runner/shim"}
	testModules = []string{
		"github.com/google/go-cmp",
		"pgregory.net/rapid",
		"github.com/rogpeppe/go-internal",
		"github.com/creack/pty",
	}
)

// allows reports whether a package with this line may import the folder.
func (l line) allows(folder string) bool {
	if slices.Equal(l.inside, []string{everything}) {
		_, known := table[folder]
		return known && !slices.Contains(testHelpers, folder)
	}
	return slices.Contains(l.inside, folder) || slices.Contains(l.inside, "approval") && slices.Contains(withApproval, folder)
}
