package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/assent-dev/assent/internal/rounds"
)

// A probe is a shell command that a sandbox lets do something, or not.
type probe struct {
	ID     string `json:"id"`
	Config string `json:"config"` // roots with their modes, network, git write
	Probe  string `json:"probe"`
	Expect string `json:"expect"` // allowed or blocked
	Checks string `json:"checks"`
	Setup  string `json:"setup"`  // on the host, before
	Verify string `json:"verify"` // on the host, after: whether the effect is there
	Needs  string `json:"needs"`  // a terminal
}

// ordinaryUser is a user that nothing on this machine belongs to.
const ordinaryUser = 61234

// TestProbes runs every probe as root or as an ordinary user, in turns, and in full as
// both. ASSENT_PROBES names a file with other probes.
func TestProbes(t *testing.T) {
	users := []int{os.Geteuid()}
	if os.Geteuid() == 0 {
		users = append(users, ordinaryUser)
	}
	for i, p := range readProbes(t) {
		for j, uid := range users {
			if rounds.N(0, 1) == 0 && i%len(users) != j {
				continue
			}
			t.Run(fmt.Sprintf("%s as %d", p.ID, uid), func(t *testing.T) {
				t.Parallel()
				h := newProbeHost(t, p, uid)
				if got, said := h.run(t); got != p.Expect {
					t.Errorf("%s, want %s: %s\n%s\n%s", got, p.Expect, p.Checks, p.Probe, said)
				}
			})
		}
	}
}

func readProbes(t *testing.T) []probe {
	t.Helper()
	file := os.Getenv("ASSENT_PROBES")
	if file == "" {
		file = "testdata/probes/probes.jsonl"
	}
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	var out []probe
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var p probe
		must(t, json.Unmarshal(lines.Bytes(), &p))
		out = append(out, p)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A probeHost is a project, and what lies and runs beside it, for one probe.
type probeHost struct {
	probe
	uid                   int
	top, proj, out, home  string
	program, policy, mark string
	tokens                *strings.Replacer
}

func newProbeHost(t *testing.T, p probe, uid int) *probeHost {
	t.Helper()
	// Not below /tmp: that is private inside, and what is not there proves nothing.
	top, err := os.MkdirTemp("/var/tmp", "assent-host-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(top) })
	must(t, os.Chmod(top, 0o755))
	h := &probeHost{probe: p, uid: uid, top: top, proj: top + "/proj", out: top + "/out", home: top + "/home", mark: strings.TrimPrefix(filepath.Base(top), "assent-host-")}
	h.program, err = program()
	must(t, err)
	if own := "@PROJ@/../bin/assent"; strings.Contains(p.Probe, own) { // it aims at the program
		copied := h.top + "/bin/assent"
		must(t, os.Mkdir(filepath.Dir(copied), 0o755))
		must(t, exec.Command("cp", h.program, copied).Run())
		h.program = copied
	}
	h.fill(t)
	h.listen(t)
	return h
}

// fill makes the files that probes know.
func (h *probeHost) fill(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"proj/data/frozen", "proj/docs/scratch", "proj/.assent", "proj/sub/repo", "proj/we ird $(touch pwn)", "out", "home/.ssh", "home/.config/assent", "cfg"} {
		must(t, os.MkdirAll(filepath.Join(h.top, dir), 0o755))
	}
	for file, text := range map[string]string{
		"proj/data/seed.txt": "seed\n", "proj/data/only.txt": "only\n", "proj/docs/readme.txt": "public\n", "proj/secret.env": "TOPSECRET\n",
		"proj/.assent/policy.yaml": "version: 1\n", "proj/.assent/rules.json": "{}\n", "out/secret.txt": "TOPSECRET\n",
		"home/.ssh/id_rsa": "TOPSECRET\n", "home/.bashrc": "\n", "home/.config/assent/rules.json": "{}\n", "cfg/policy.yaml": h.policyText(),
	} {
		must(t, os.WriteFile(filepath.Join(h.top, file), []byte(text), 0o644))
	}
	h.policy = h.top + "/cfg/policy.yaml"
	must(t, exec.Command("chown", "-R", fmt.Sprintf("%d:%d", h.uid, h.uid), h.top).Run())
	h.host(t, "cd "+h.proj+" && git init -q && git init -q sub/repo && git add data docs && git -c user.email=a@b -c user.name=n commit -qm init")
}

func (h *probeHost) policyText() string {
	var b strings.Builder
	b.WriteString("sandbox:\n  paths:\n")
	for i, part := range strings.Split(h.Config, ";") {
		mode, path, _ := strings.Cut(strings.TrimSpace(part), " ")
		if mode == "rw" || mode == "ro" {
			root, _ := json.Marshal(filepath.Join(h.proj, strings.Trim(path, "'")))
			fmt.Fprintf(&b, "    r%d: {root: %s, mode: %s}\n", i, root, mode)
		}
	}
	fmt.Fprintf(&b, "  network: %v\n  git_write: %v\n", strings.Contains(h.Config, "network on"), strings.Contains(h.Config, "git write on"))
	return b.String()
}

// listen opens what probes try to reach.
func (h *probeHost) listen(t *testing.T) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { tcp.Close(); udp.Close() })
	go func() {
		buf := make([]byte, 100)
		if n, _, err := udp.ReadFrom(buf); err == nil {
			_ = os.WriteFile(h.out+"/udp.log", buf[:n], 0o644)
		}
	}()
	for _, path := range []string{h.out + "/svc.sock", h.proj + "/data/svc.sock", "@probeabs-" + h.mark} {
		l, err := net.Listen("unix", path)
		must(t, err)
		t.Cleanup(func() { l.Close() })
		if path[0] == '/' {
			must(t, os.Chmod(path, 0o777))
		}
	}
	bystander := h.as(exec.Command("/bin/sleep", "120"))
	bystander.Env = []string{"HOSTSECRET=1"}
	must(t, bystander.Start())
	t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })
	port := func(a net.Addr) string { return a.String()[strings.LastIndex(a.String(), ":")+1:] }
	h.tokens = strings.NewReplacer("@PROJ@", h.proj, "@OUT@", h.out, "@HOME@", h.home, "@M@", h.mark,
		"@PORT@", port(tcp.Addr()), "@UPORT@", port(udp.LocalAddr()), "@PID@", fmt.Sprint(bystander.Process.Pid))
}

// as lets a command run as the probe's user.
func (h *probeHost) as(cmd *exec.Cmd) *exec.Cmd {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(h.uid), Gid: uint32(h.uid)}
	}
	return cmd
}

// host runs a script outside of the sandbox and reports whether it succeeds.
func (h *probeHost) host(t *testing.T, script string) bool {
	t.Helper()
	if h.tokens != nil {
		script = h.tokens.Replace(script)
	}
	cmd := h.as(exec.Command("/bin/sh", "-c", script))
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + h.home}
	return cmd.Run() == nil
}

// run does what the probe says and returns what came of it.
func (h *probeHost) run(t *testing.T) (outcome, said string) {
	t.Helper()
	if h.Setup != "" {
		h.host(t, h.Setup)
	}
	ok, said := h.command(t)
	effect := ok
	if h.Verify != "" {
		effect = h.host(t, h.Verify)
	}
	if h.Expect == "allowed" && ok && effect || h.Expect == "blocked" && effect {
		return "allowed", said
	}
	return "blocked", said
}

// command runs the probe in the sandbox, with everything around it that must not get in.
func (h *probeHost) command(t *testing.T) (ok bool, said string) {
	t.Helper()
	cmd := h.as(exec.Command(h.program, "sandbox", "run", "-c", h.policy, "--timeout", "20s", "--", "/bin/sh", "-c", h.tokens.Replace(h.Probe)))
	cmd.Dir = h.proj
	cmd.Env = []string{
		"PATH=" + h.proj + "/data/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + h.home, "API_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x",
		"SSH_AUTH_SOCK=" + h.out + "/svc.sock", "LD_LIBRARY_PATH=" + h.proj + "/data", "BASH_ENV=" + h.proj + "/data/rc.sh", "GIT_SSH_COMMAND=x",
	}
	leak, err := os.Open(h.out)
	must(t, err)
	defer leak.Close()
	cmd.ExtraFiles = []*os.File{leak}
	if h.Needs == "" {
		out, err := cmd.CombinedOutput()
		return err == nil, string(out)
	}
	terminal, err := pty.Start(cmd)
	must(t, err)
	defer terminal.Close()
	must(t, terminal.SetReadDeadline(time.Now().Add(patience)))
	out, _ := io.ReadAll(terminal) // ends with an error when the other side is closed
	return cmd.Wait() == nil, string(out)
}
