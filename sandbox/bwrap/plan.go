package bwrap

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/sandbox/prelude"
)

// Descriptors that bubblewrap is started with, besides those of the prelude. Those of the
// layers follow.
const (
	argsFD    = 3
	seccompFD = 4
	statusFD  = 5
	layersFD  = prelude.LifeFD + 1
)

// A Request is everything that the arguments are made from.
type Request struct {
	Layout  launch.Layout
	Files   []sandbox.HomeFile
	Network sandbox.Network
	Limits  sandbox.Limits
	Argv    []string
	Enters  bool // the program does the prelude itself
	Dir     string
	Env     []string
	// ByFD hands the layers over as open files.
	ByFD bool
	// Root says that root starts it, who can do more in /proc than others.
	Root bool
	// Staged says that bubblewrap is started in a network namespace that was made for the
	// command, and keeps it.
	Staged bool
	// Tmp is the folder of the host that is /tmp; empty for one of its own.
	Tmp string
}

// Resolver is where names are answered in a network namespace that was made for a command.
const Resolver = "127.0.0.53"

// hostName is what the machine is called inside.
const hostName = "sandbox"

// staged are the settings of a command in a network namespace that was made for it. The
// host's own would name servers that are not there, and addresses that mean others.
var staged = []sandbox.HomeFile{
	{Path: "/etc/hosts", Text: "127.0.0.1 localhost " + hostName + "\n::1 localhost ip6-localhost ip6-loopback\n"},
	{Path: "/etc/resolv.conf", Text: "nameserver " + Resolver + "\noptions timeout:1 attempts:5\n"},
}

// An Arguments is how bubblewrap is to be started.
type Arguments struct {
	// Options go through a descriptor, one after another with a zero byte behind each:
	// neither the environment nor paths show in the list of processes.
	Options []string
	// Command follows on the command line.
	Command []string
	// Open are the files to open for the descriptors from layersFD on.
	Open []Opening
}

// An Opening is a file to be opened without following a link: to be read, or only to be
// mounted. With a text there is nothing to open: it becomes a file in memory.
type Opening struct {
	Path string
	Read bool
	// Text is what to read instead of a file.
	Text string
}

// hidden are parts of /proc that tell about the whole machine; those for root, only root
// could read.
var (
	hidden        = []string{"key-users", "keys"}
	hiddenForRoot = []string{
		"kcore", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "pagetypeinfo", "sched_debug",
		"slabinfo", "timer_list", "vmallocinfo",
	}
)

// Plan writes the arguments for a command. Visible says which parts of /proc the host has.
func Plan(r Request, visible func(string) bool) Arguments {
	p := &plan{Request: r}
	p.namespaces()
	p.system()
	p.proc(visible)
	p.devices()
	home := p.private()
	p.files(home)
	p.layers(home)
	p.add("--remount-ro", "/")
	p.environment(home)
	p.add("--chdir", r.Dir)
	return Arguments{Options: p.options, Command: first(r), Open: p.open}
}

// first is the command line that is started inside.
func first(r Request) []string {
	if r.Enters {
		return prelude.Own(r.Limits, r.Argv)
	}
	return prelude.Shell(r.Limits, r.Argv)
}

// A plan is one that is being written.
type plan struct {
	Request
	options []string
	open    []Opening
}

func (p *plan) add(options ...string) { p.options = append(p.options, options...) }

func (p *plan) namespaces() {
	p.add("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
	if !p.Staged && (!p.Network.On || p.Network.ByName) {
		p.add("--unshare-net")
	}
	// No namespace inside, and no capability in this one: with them, root could mount
	// again what was mounted read-only.
	p.add("--disable-userns", "--cap-drop", "ALL")
	p.add("--new-session", "--die-with-parent", "--hostname", hostName)
	p.add("--seccomp", strconv.Itoa(seccompFD), "--json-status-fd", strconv.Itoa(statusFD))
}

func (p *plan) system() {
	for _, l := range p.Layout.System {
		switch {
		case p.Staged && slices.ContainsFunc(staged, func(f sandbox.HomeFile) bool { return f.Path == l.Path }):
		case l.Target != "":
			p.add("--symlink", l.Target, l.Path)
		case l.Small:
			p.add("--perms", "0444", "--file", p.descriptor(l.Source, true), l.Path)
		default:
			p.add("--ro-bind", l.Source, l.Path)
		}
	}
	if p.Staged {
		for _, f := range staged {
			p.add("--perms", "0444", "--file", p.text(f), f.Path)
		}
	}
}

// proc shows the processes inside, read-only. Root needs no capability to change the machine
// through /proc, or the mode of what lies there: the kernel looks only at who it belongs to. Others
// could write to the memory of bubblewrap, which holds the gate's socket.
func (p *plan) proc(visible func(string) bool) {
	p.add("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys")
	hidden := hidden
	if p.Root {
		hidden = slices.Concat(hidden, hiddenForRoot)
	}
	for _, name := range hidden {
		if file := "/proc/" + name; visible(file) {
			p.add("--ro-bind", "/dev/null", file)
		}
	}
	p.add("--remount-ro", "/proc")
}

// devices gives a few devices and shared memory of its own. What is made elsewhere in
// /dev would have no size limit, so nothing is.
func (p *plan) devices() {
	p.add("--dev", "/dev")
	p.tmpfs("/dev/shm", "1777")
	p.add("--remount-ro", "/dev")
}

func (p *plan) tmpfs(dir, mode string) {
	size := p.Limits.Tmp
	if size == 0 {
		size = sandbox.DefaultTmp
	}
	p.add("--perms", mode, "--size", strconv.FormatInt(size, 10), "--tmpfs", dir)
}

// private makes the folders that every program expects to write to, and returns the home
// folder. They end with the command.
func (p *plan) private() string {
	home := p.home()
	for _, dir := range []string{"/tmp", "/run", "/var/tmp"} { // a root of that name comes on top
		if dir == "/tmp" && p.Tmp != "" {
			p.add("--bind", p.Tmp, dir)
		} else {
			p.tmpfs(dir, "1777")
		}
	}
	if !p.visible(home) && home != "/tmp" {
		p.tmpfs(home, "0700")
	}
	return home
}

// files puts the profile's files into a private home, before a place of the host is mounted
// there: nothing of this is ever written to the host.
func (p *plan) files(home string) {
	if p.visible(home) {
		return
	}
	for _, f := range p.Files {
		switch {
		case f.Text == "" && f.Target == "" || f.Path == home || !sandbox.Below(home, f.Path):
		case f.Target != "":
			p.add("--symlink", f.Target, f.Path)
		default:
			p.add("--perms", "0600", "--file", p.text(f), f.Path)
		}
	}
}

// home is the caller's home folder, by name. What has no place of its own there is /tmp.
func (p *plan) home() string {
	home := "/tmp"
	for _, v := range p.Env {
		if value, ok := strings.CutPrefix(v, "HOME="); ok {
			home = value
		}
	}
	reserved := slices.Concat([]string{"/proc", "/dev", "/etc", "/sys", "/run"}, p.systemPaths())
	clash := func(dir string) bool { return sandbox.Below(dir, home) || sandbox.Below(home, dir) }
	above := func(dir string) bool { return sandbox.Below(home, dir) }
	switch {
	case !path.IsAbs(home), path.Clean(home) != home:
		return "/tmp"
	case !p.visible(home) && (slices.ContainsFunc(reserved, clash) || above("/tmp") || above("/var/tmp")):
		return "/tmp"
	}
	return home
}

func (p *plan) systemPaths() []string {
	var out []string
	for _, l := range p.Layout.System {
		out = append(out, l.Path)
	}
	return out
}

// visible reports whether a path lies in a root.
func (p *plan) visible(file string) bool {
	return slices.ContainsFunc(p.Layout.Roots, func(r launch.Place) bool { return sandbox.Below(r.Path, file) })
}

// layers mounts the profile's own places.
func (p *plan) layers(home string) {
	for _, l := range p.Layout.Layers() {
		switch {
		case l.Mode == sandbox.ModeReadWrite:
			p.bind("--bind", l.Path)
		case l.Mode == sandbox.ModeReadOnly:
			p.bind("--ro-bind", l.Path)
		case l.Kind == launch.KindFolder:
			p.add("--perms", "0000", "--size", "4096", "--tmpfs", l.Path, "--remount-ro", l.Path)
		default:
			p.add("--ro-bind", "/dev/null", l.Path)
		}
	}
	for _, s := range p.Layout.Sockets {
		p.bind("--ro-bind", s.Path)
	}
	if !p.visible(p.Dir) && p.Dir != home {
		p.add("--dir", p.Dir)
	}
}

// bind shows a place of the host under its own path.
func (p *plan) bind(how, file string) {
	if p.ByFD {
		p.add(how+"-fd", p.descriptor(file, false), file)
	} else {
		p.add(how, file, file)
	}
}

// text has a text made a file and returns the number under which bubblewrap finds it.
func (p *plan) text(f sandbox.HomeFile) string {
	p.open = append(p.open, Opening{Path: f.Path, Text: f.Text})
	return strconv.Itoa(layersFD + len(p.open) - 1)
}

// descriptor has a file opened and returns the number under which bubblewrap finds it.
func (p *plan) descriptor(file string, read bool) string {
	p.open = append(p.open, Opening{Path: file, Read: read})
	return strconv.Itoa(layersFD + len(p.open) - 1)
}

func (p *plan) environment(home string) {
	p.add("--clearenv")
	for _, v := range p.Env {
		name, value, _ := strings.Cut(v, "=")
		if name != "HOME" {
			p.add("--setenv", name, value)
		}
	}
	p.add("--setenv", "HOME", home)
}
