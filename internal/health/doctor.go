package health

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/check"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// A Level is how bad a finding is.
type Level string

// The levels. Only a problem makes the doctor fail.
const (
	OK      Level = "ok"
	Warning Level = "warning" // works, but not as well as it could, or not as somebody may think
	Problem Level = "problem" // something does not work
)

// A Finding is what the doctor found out about one thing.
type Finding struct {
	Level Level  `json:"level"`
	About string `json:"about"`
	What  string `json:"what"`
	Cure  string `json:"cure,omitempty"`
}

// A doctor examines one installation.
type doctor struct {
	places   setup.Places
	dir      string
	user     *config.User // nil if it cannot be read
	findings []Finding
}

// Examine looks for everything that can be wrong, in the current folder and for this user.
func Examine(ctx context.Context, state string) ([]Finding, error) {
	order, err := setup.OrderHere("", state)
	if err != nil {
		return nil, err
	}
	d := &doctor{places: order.Places, dir: order.Dir}
	d.programs()
	d.configs(ctx, order)
	d.folders()
	d.disk()
	d.store(ctx)
	d.sandbox(ctx)
	d.agents(ctx)
	d.keepers()
	d.terminal()
	return d.findings, nil
}

// Failed reports whether something does not work.
func Failed(findings []Finding) bool {
	for _, f := range findings {
		if f.Level == Problem {
			return true
		}
	}
	return false
}

// Print prints what was found for a person.
func Print(w io.Writer, findings []Finding) error {
	var b strings.Builder
	counts := map[Level]int{}
	for _, f := range findings {
		counts[f.Level]++
		fmt.Fprintf(&b, "%-8s %-10s %s\n", f.Level, f.About, present.SafeLine(f.What))
		if f.Cure != "" {
			fmt.Fprintf(&b, "%-8s %-10s Fix: %s\n", "", "", present.SafeLine(f.Cure))
		}
	}
	fmt.Fprintf(&b, "\n%s, %s.\n", count(counts[Problem], "problem", "problems"), count(counts[Warning], "warning", "warnings"))
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *doctor) ok(about, format string, args ...any) {
	d.findings = append(d.findings, Finding{Level: OK, About: about, What: fmt.Sprintf(format, args...)})
}

func (d *doctor) warn(about, cure, format string, args ...any) {
	d.findings = append(d.findings, Finding{Warning, about, fmt.Sprintf(format, args...), cure})
}

func (d *doctor) problem(about, cure, format string, args ...any) {
	d.findings = append(d.findings, Finding{Problem, about, fmt.Sprintf(format, args...), cure})
}

// programs looks for the three programs, and whether they are of one build.
func (d *doctor) programs() {
	const about = "program"
	self := d.places.Program()
	folder := filepath.Dir(self)
	switch found, err := exec.LookPath("assent"); {
	case err != nil:
		d.warn(about, "add "+folder+" to your PATH", "assent is not on your PATH; this one is %s", self)
	case !sameFile(found, self):
		d.warn(about, "remove one of them, or change the order of your PATH", "%s is first on your PATH, but this is %s",
			found, self)
	default:
		d.ok(about, "%s", self)
	}
	own := revision(self)
	for _, name := range []string{"assent-hook", "assent-shell"} {
		path := filepath.Join(folder, name)
		switch info, err := os.Stat(path); {
		case err != nil:
			d.warn(about, "copy all programs of one build into one folder, as 'make install' does",
				"%s is not beside assent, so hooks or commands start slower", name)
		case info.Mode()&0o111 == 0:
			d.problem(about, "run: chmod +x "+path, "%s cannot be executed", path)
		case own != "" && revision(path) != "" && revision(path) != own:
			d.problem(about, "install the programs of one build together", "%s is of another build than assent", path)
		}
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// revision is the commit that a program was built from; empty if it does not say.
func revision(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// configs reads the files that say what is allowed.
func (d *doctor) configs(ctx context.Context, order setup.Order) {
	const about = "policy"
	if admin, err := config.ReadAdmin(d.places.Admin); err != nil {
		d.problem(about, "have your administrator fix it; until then every call is refused", "%v", err)
	} else if admin != nil {
		d.ok(about, "the administrator's %s can be read", d.places.Admin)
	}
	d.team(ctx)
	userFile := filepath.Join(d.places.Config, config.UserName)
	var err error
	if d.user, err = d.places.User(); err != nil {
		d.problem(about, "correct it, then run: assent check "+config.ShortPath(userFile), "your %v", err)
	} else {
		d.checked(ctx, userFile, config.ShortPath(userFile))
		if d.user.ApprovalsOff {
			d.warn(about, "take approvals: false out of "+config.ShortPath(userFile), "approvals are off: nobody is asked")
		}
		if d.user.Mode != policy.ModeAsk {
			d.warn(about, "take mode out of "+config.ShortPath(userFile), "your config.yaml answers without asking you: mode %v", d.user.Mode)
		}
	}
	found, err := config.FindProject(d.dir)
	switch {
	case err != nil:
		d.problem(about, "make the folders above readable for you", "the project's policy was not found: %v", err)
		return
	case found == "":
		d.ok(about, "no .assent/policy.yaml here or above, so your own settings and the defaults apply")
		return
	}
	if _, err := config.Read(found, config.PolicyFile); err != nil {
		d.problem(about, "correct it, then run: assent check "+relative(d.dir, found), "%v", err)
		return
	}
	if d.user == nil {
		return
	}
	holds, err := setup.Resolve(ctx, order)
	switch {
	case err != nil:
		d.problem(about, "run: assent check "+relative(d.dir, found), "%v", err)
		return
	case holds.Untrusted:
		d.warn(about, "run: assent trust "+relative(d.dir, found), "%s is not trusted, so it can only deny", relative(d.dir, found))
	}
	d.checked(ctx, found, relative(d.dir, found))
}

// team looks at the machine's team: its policy, and whether the server answers.
func (d *doctor) team(ctx context.Context) {
	holds, err := setup.Resolve(ctx, setup.Order{Places: d.places, Dir: d.dir})
	if err != nil {
		return // it is reported as the policy's
	}
	t := teamOf(holds)
	switch {
	case t == nil:
		return
	case t.Untrusted:
		d.problem("team", "ask the team for its key, and add it to "+d.places.Admin+", as 'assent join' printed",
			"%s: %s", t.Name, t.Problem)
		return
	case t.Gate == "":
		d.problem("team", "run 'assent join URL --token TOKEN'", "%s: %s", t.Name, t.Problem)
		return
	case t.Problem != "" && t.Away.IsZero():
		d.problem("team",
			"run 'assent bridge', and read its messages; if the team has published nothing yet, it must do so first",
			"%s: %s", t.Name, t.Problem)
	case t.Problem != "":
		d.problem("team", "make the server reachable", "%s: %s", t.Name, t.Problem)
	default:
		d.ok("team", "%s", t.policy())
	}
	if !t.Away.IsZero() && t.Bridge {
		d.warn("team", "check the connection to "+t.Server,
			"the server has not answered since %s: %s", t.Away.Local().Format(time.TimeOnly), t.Why)
	}
}

// checked does what 'assent check' does.
func (d *doctor) checked(ctx context.Context, path, name string) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	below, reserved, setting, err := setup.Checked(d.places)
	if err != nil {
		return // it is reported as the administrator's
	}
	found, err := check.File(ctx, path, "", below, setting, reserved...)
	if err != nil {
		d.problem("policy", "make it readable", "%v", err)
		return
	}
	for _, f := range found {
		level := Warning
		if f.Level == check.Error {
			level = Problem
		}
		d.findings = append(d.findings, Finding{level, "policy", f.Text, fmt.Sprintf("change line %d of %s", f.Line, name)})
	}
	if len(found) == 0 {
		d.ok("policy", "%s has no mistakes that 'assent check' knows", name)
	}
}

// folders looks at who else can reach what assent keeps.
func (d *doctor) folders() {
	for _, f := range []struct{ about, path string }{{"state", d.places.State}, {"config", d.places.Config}} {
		info, err := os.Stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.ok(f.about, "%s does not exist yet; it is made when it is needed", config.ShortPath(f.path))
		case err != nil:
			d.problem(f.about, "make it readable for you", "%v", err)
		case !info.IsDir():
			d.problem(f.about, "move it away", "%s is not a folder", f.path)
		case unix.Access(f.path, unix.R_OK|unix.X_OK) != nil, f.about == "state" && unix.Access(f.path, unix.W_OK) != nil:
			d.problem(f.about, "run: chown -R $USER "+f.path+" && chmod u+rwx "+f.path, "you may not read and write %s", f.path)
		case f.about == "state" && info.Mode().Perm()&0o077 != 0:
			d.warn(f.about, "run: chmod 700 "+f.path, "others may look into %s (mode %o)", f.path, info.Mode().Perm())
		case info.Mode().Perm()&0o022 != 0:
			d.problem(f.about, "run: chmod go-w "+f.path, "others may write into %s (mode %o)", f.path, info.Mode().Perm())
		default:
			d.ok(f.about, "%s is yours alone", config.ShortPath(f.path))
		}
	}
}

// Below these sizes there is soon, or now, no room for records.
const (
	littleRoom = 200 << 20
	noRoom     = 10 << 20
)

// disk looks whether there is room for records.
func (d *doctor) disk() {
	const about, cure = "disk", "free some space; assent refuses calls that it cannot record"
	at := d.places.State
	for at != filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil {
			break
		}
		at = filepath.Dir(at)
	}
	var system unix.Statfs_t
	if err := unix.Statfs(at, &system); err != nil {
		d.warn(about, "", "how much room there is in %s is unknown: %v", at, err)
		return
	}
	free := uint64(system.Bavail) * uint64(system.Bsize)
	switch roomFor(free, system.Files == 0 || system.Ffree > 0) {
	case Problem:
		d.problem(about, cure, "there is no room left in %s", at)
	case Warning:
		d.warn(about, cure, "only %d MB are free in %s", free>>20, at)
	default:
		d.ok(about, "%d MB are free", free>>20)
	}
}

// roomFor says whether so many bytes are enough.
func roomFor(free uint64, moreFiles bool) Level {
	switch {
	case free < noRoom || !moreFiles:
		return Problem
	case free < littleRoom:
		return Warning
	}
	return OK
}

// verifyWithin is how long the log may take to verify; a longer one is for 'assent audit verify'.
const verifyWithin = 3 * time.Second

// store opens what is kept and verifies the log.
func (d *doctor) store(ctx context.Context) {
	const about = "store"
	if d.user == nil {
		return
	}
	kept, err := open.ReadStore(ctx, d.places, d.user)
	if errors.Is(err, open.ErrNoStore) {
		d.ok(about, "nothing is saved yet")
		return
	}
	if err != nil {
		cure := "see the message"
		var e *store.Error
		if errors.As(err, &e) && e.Do != "" {
			cure = e.Do
		}
		d.problem(about, cure, "%v", err)
		return
	}
	defer kept.Close()
	if off, err := open.ApprovalsOff(ctx, d.user, kept); err == nil && off != "" && !d.user.ApprovalsOff {
		d.warn(about, "run: "+off, "approvals are off: nobody is asked")
	}
	d.rules(ctx, kept)
	now := time.Now()
	for r, err := range kept.Records(ctx, approval.RecordFilter{Last: 1}) {
		if err == nil && r.At.After(now.Add(time.Hour)) {
			d.problem("clock", "set the clock of this machine", "the newest record is of %s, but it is %s", r.At.Format(time.RFC3339),
				now.Format(time.RFC3339))
		}
	}
	if waiting, err := kept.Open(ctx, ""); err == nil && len(waiting) > 0 {
		d.warn(about, "run: assent inbox", "%s", count(len(waiting), "request waits for an answer", "requests wait for an answer"))
	}
	limited, cancel := context.WithTimeout(ctx, verifyWithin)
	defer cancel()
	found, err := kept.Verify(limited)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d.ok(about, "it opens; its log is long, so run 'assent audit verify' to verify it")
	case err != nil:
		d.problem(about, "run: assent audit verify", "the log cannot be verified: %v", err)
	case !found.OK():
		d.problem(about, "run: assent audit verify", "the log was changed")
	default:
		d.ok(about, "it opens, and nobody changed its log")
	}
}

// rules looks for saved rules that match nothing: a deny that looks saved and denies nothing is a
// problem.
func (d *doctor) rules(ctx context.Context, kept *store.Store) {
	const about = "rules"
	rules, err := kept.Rules(ctx)
	if err != nil {
		d.problem(about, "run: assent rules list", "the rules cannot be read: %v", err)
		return
	}
	useless := 0
	for _, r := range rules.Rules() {
		id := rulebook.ShortID(r.ID)
		why, gone := rulebook.Stale(r), rulebook.Gone(r.Project)
		switch {
		case !r.Enabled || why == "" && gone == "":
			continue
		case why != "" && r.Effect == policy.EffectDeny:
			d.problem(about, "run: assent rules remove "+id+", and add it as it should be", "%s: %s", r, why)
		default:
			d.warn(about, "run: assent rules remove "+id, "%s: %s", r, cmp.Or(why, gone))
		}
		useless++
	}
	if n := len(rules.Rules()); useless == 0 && n > 0 {
		d.ok(about, "%s, none of which is known to match nothing", count(n, "rule is saved", "rules are saved"))
	}
}

// sandbox does what 'assent sandbox doctor' does.
func (d *doctor) sandbox(ctx context.Context) {
	const about = "sandbox"
	found, err := open.Detect(ctx, sandbox.Profile{Limits: sandbox.DefaultLimits()})
	var none *sandbox.UnusableError
	switch {
	case errors.As(err, &none):
		for _, r := range none.Reports {
			if p := r.Problem; p != nil {
				d.warn(about, p.Remedy, "%s cannot be used: %s", r.Name, p.Cause)
			}
		}
		d.problem(about, "see above; without one, commands that you approve can do all that you can",
			"no sandbox works on this machine")
		return
	case err != nil:
		d.problem(about, "run: assent sandbox doctor", "%v", err)
		return
	}
	defer found.Close()
	switch {
	case found.Report.Weaker:
		d.warn(about, "run: assent sandbox doctor", "only %s works, which is weaker", found.Report.Name)
	default:
		d.ok(about, "%s works", found.Report.Name)
	}
	if found.NoStage != nil {
		d.warn(about, "run: assent sandbox doctor", "connections cannot be judged by host: %v", found.NoStage)
	}
}

// agents tries the hook of each agent that is installed.
func (d *doctor) agents(ctx context.Context) {
	shell := config.HookJudge
	if d.user != nil && d.user.Hook.Shell != "" {
		shell = d.user.Hook.Shell
	}
	around, err := settings.Here(d.dir)
	if err != nil {
		d.problem("agents", "make your home folder readable", "%v", err)
		return
	}
	d.settings(around)
	all, err := install.AgentsHere(ctx, nil, shell)
	if err != nil {
		d.problem("agents", "run: assent verify", "%v", err)
		return
	}
	for _, a := range all {
		switch {
		case a.Settings == "":
			d.warn("agents", "run: assent install "+a.Name, "%s does not ask assent", a.Title)
		case a.Untried:
			d.warn("agents", "watch its first calls with: assent audit list --follow",
				"the hook of %[1]s answers as it should, but nobody has run assent with %[1]s itself", a.Title)
		case a.Proven:
			d.ok("agents", "%s asks assent, and its hook answers as it should", a.Title)
		default:
			for _, why := range a.Why {
				what, cure := why, "run: assent verify "+a.Name
				if at := strings.LastIndex(why, "; "); at > 0 { // a finding ends with what to do
					what, cure = why[:at], why[at+2:]
				}
				d.problem("agents", cure, "%s: %s", a.Title, what)
			}
		}
	}
}

// settings looks for settings that cannot be read, and for hooks whose program is gone.
func (d *doctor) settings(around settings.Surroundings) {
	for _, a := range agents.All() {
		t := settings.TargetOf(a)
		for _, path := range []string{t.UserPath(around), t.Path(around.Folder)} {
			text, _, err := settings.Read(path)
			if text == nil && err == nil {
				continue
			}
			var commands [][]string
			if err == nil {
				commands, err = t.Commands(text)
			}
			if err != nil {
				d.problem("agents", "fix the file, then run: assent install "+a.Name, "%s: %v", config.ShortPath(path), err)
				continue
			}
			for _, argv := range commands {
				if _, err := exec.LookPath(argv[0]); err != nil {
					d.problem("agents", "run: assent install "+a.Name, "the hook of %s starts %s, which is not there", a.Title, argv[0])
				}
			}
		}
	}
}

// keepers looks for processes that hold commands of a session with a program that was replaced.
func (d *doctor) keepers() {
	if runtime.GOOS != "linux" {
		return
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range processes {
		line, err := os.ReadFile(file) // it may have ended
		if err != nil || !strings.Contains(string(line), "\x00hook\x00keeper\x00") {
			continue
		}
		program, err := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if err == nil && strings.HasSuffix(program, " (deleted)") {
			pid := filepath.Base(filepath.Dir(file))
			d.warn("keeper", "end the agent's session, or run: kill "+pid,
				"process %s holds commands of an agent with a program that was replaced since", pid)
		}
	}
}

// terminal looks whether prompts can be shown here.
func (d *doctor) terminal() {
	const about = "terminal"
	term, locale := os.Getenv("TERM"), os.Getenv("LC_ALL")+os.Getenv("LC_CTYPE")+os.Getenv("LANG")
	switch {
	case runner.Inside():
		d.warn(about, "run it in your own terminal", "this was started by a tool call, so nothing can be approved here")
	case terminal.Person() == nil:
		d.ok(about, "there is none here; requests go to the inbox or are refused")
	case term == "" || term == "dumb":
		d.warn(about, "set TERM, for example to xterm-256color", "TERM is %s, so prompts are plain lines", strconv.Quote(term))
	case !strings.Contains(strings.ToLower(strings.ReplaceAll(locale, "-", "")), "utf8"):
		d.warn(about, "set LANG to a UTF-8 locale, for example C.UTF-8", "the locale is not UTF-8, so frames may look wrong")
	default:
		d.ok(about, "prompts can be shown here")
	}
}
