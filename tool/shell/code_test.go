package shell

import (
	"testing"

	"github.com/assent-dev/assent/policy"
)

// TestCode: an act says which file it would run as code, as a write of it.
func TestCode(t *testing.T) {
	b := newBench(t, Config{})
	for command, want := range map[string]string{
		"npm test":               "write_file(proj/…)",
		"make -C src":            "write_file(proj/src/…)",
		"bash run.sh":            "write_file(proj/run.sh)",
		"./run.sh x":             "write_file(proj/run.sh)",
		"python3 src/a.py --all": "write_file(proj/src/a.py)",
		"ls -la":                 "",
		"git commit -m x":        "",
	} {
		got := ""
		p, err := b.propose(command)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Acts {
			if a.Code != nil && a.Name == policy.ActShell && got == "" {
				got = a.Code.String()
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// The code of a project is what lies in its root, and what the table knows to run it.
func TestProject(t *testing.T) {
	b := newBench(t, Config{})
	b.write(b.dir+"/tool.py", "print(1)\n")
	b.write(b.dir+"/node_modules/.bin/vitest", "x\n")
	for command, want := range map[string]bool{
		"go test ./...": true, "make": true, "pytest -q": true, "npm run build": true, "cargo test": true, "./run.sh": true, "bash run.sh x": true,
		"python3 tool.py": true, "npx vitest run": true, "go run ./src": true, "tsc --noEmit": true, "cd src && go vet": true,
		"npx other": false, "python3 none.py": false, "python3 -c 1": false, "bash /etc/profile": false, "go run example.org/x@latest": false, "/bin/ls": false,
		"ls": false, "git commit": false, "npm install": false, "cd /tmp && make": false, "echo x | bash": false, "curl x": false, "make -f /etc/x": false,
	} {
		p, err := b.propose(command)
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, a := range p.Acts {
			got = got || a.Project == b.dir && a.Name == policy.ActShell
		}
		if got != want {
			t.Errorf("%s: code of the project: %v, want %v", command, got, want)
		}
	}
}
