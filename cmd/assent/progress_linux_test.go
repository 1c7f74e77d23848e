package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// slowCommand is a policy under which a command runs that prints, and waits at a pipe.
const slowCommand = `sandbox:
  paths:
    notes: {mode: rw, approval: allow}
shell:
  cwd: notes
  rules:
    - {pattern: echo *, approval: allow}
    - {pattern: printf *, approval: allow}
    - {pattern: cat *, approval: allow}
`

// The last line that a command printed is shown while it runs, in the sandbox and without one, and
// what it printed is shown as lines afterwards.
// S28 While it works.
func TestWhileItWorks_Shell(t *testing.T) {
	for _, held := range []bool{true, false} {
		t.Run(map[bool]string{true: "sandbox", false: "none"}[held], func(t *testing.T) {
			s := tell(t, slowCommand, []call{command("a", "echo compiling a.c; printf '50 %%'; cat gate; echo; echo linking; cat gate")})
			gate := filepath.Join(s.dir, "notes", "gate")
			if err := syscall.Mkfifo(gate, 0o600); err != nil {
				t.Fatal(err)
			}
			goesOn := func() {
				t.Helper()
				f, err := os.OpenFile(gate, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				f.Close()
			}
			c := assent(t, s.env, "demo", "--dir", s.dir)
			if !held {
				c.Args = append([]string{"unshare", "-U", "-r", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh"}, c.Args...)
				c.Path, c.Err = exec.LookPath("unshare")
			}
			x := start(t, 100, 40, c)
			x.sees("s · 50 %")
			goesOn()
			x.sees("s · linking")
			goesOn()
			x.ends(0, "✓ shell: free", "compiling a.c 50 % linking", "That was all.")
		})
	}
}
