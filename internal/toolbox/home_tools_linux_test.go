//go:build all

package toolbox_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
)

// A step is a command that must work inside, and what it prints.
type step struct{ command, want string }

func (w *world) steps(list ...step) {
	w.t.Helper()
	for _, s := range list {
		r := w.call(policy.ModeStrict, nil, "shell", map[string]any{"command": s.command, "timeout": 240})
		if r.Err != nil || !strings.Contains(r.Text, `"exit_code":0`) || !strings.Contains(r.Text, s.want) {
			w.t.Fatalf("%s: %s %v", s.command, r.Text, r.Err)
		}
	}
}

// held runs commands in the sandbox alone, as 'assent sandbox run' does: the gate denies what is
// known to load from the network where that is off.
func (w *world) held(list ...step) {
	w.t.Helper()
	p := w.box.Hold.Profile
	for _, s := range list {
		var out bytes.Buffer
		exit, err := sandbox.Run(w.t.Context(), w.box.Hold.Runner, sandbox.Command{
			Argv: []string{"sh", "-c", s.command}, Dir: w.top + "/proj", Stdout: &out, Stderr: &out, Profile: p,
			Env: p.Env.Values(func(name string) (string, bool) {
				value, ok := map[string]string{"PATH": "/usr/bin:/bin", "HOME": w.top + "/home"}[name]
				return value, ok
			}),
		})
		if err != nil || exit.Code != 0 || !strings.Contains(out.String(), s.want) {
			w.t.Fatalf("%s: %v, %d\n%s", s.command, err, exit.Code, out.String())
		}
	}
}

// outside runs a program as the user does, without a sandbox.
func (w *world) outside(env []string, argv ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), argv[0], argv[1:]...)
	cmd.Dir = w.top + "/proj"
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.top + "/home"}, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}

// A Go project builds and tests without the network: its module comes from the user's cache,
// and what is unpacked goes to the project's own.
func TestGoInAHomeWithTools(t *testing.T) {
	goProgram, err := exec.LookPath("go")
	must(t, err)
	out, err := exec.CommandContext(t.Context(), goProgram, "env", "GOROOT").Output()
	must(t, err)
	root := strings.TrimSpace(string(out))
	conf := developer
	if !sandbox.Below("/usr", root) {
		conf = strings.Replace(developer, "shell:", "  extra: {read: ["+root+"]}\nshell:", 1)
	}
	w := newHome(t, conf, secretsOfAHome)
	w.write("proj/go.mod", "module example.org/p\n\ngo 1.24\n\nrequire example.org/dep v1.0.0\n")
	w.write("proj/p.go", "package p\n\nimport \"example.org/dep\"\n\nvar Answer = dep.Answer\n")
	w.write("proj/p_test.go", "package p\n\nimport \"testing\"\n\nfunc TestAnswer(t *testing.T) {\n\tif Answer != 42 {\n\t\tt.Fatal(Answer)\n\t}\n}\n")
	const mod = "module example.org/dep\n\ngo 1.24\n"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{"go.mod": mod, "dep.go": "package dep\n\nconst Answer = 42\n"} {
		f, err := z.Create("example.org/dep@v1.0.0/" + name)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	for name, text := range map[string]string{"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": mod, "v1.0.0.zip": packed.String()} {
		w.write("proxy/example.org/dep/@v/"+name, text)
	}
	w.outside([]string{"GOPROXY=file://" + w.top + "/proxy", "GOSUMDB=off", "GOENV=off", "GOFLAGS=-modcacherw -mod=mod"}, goProgram, "mod", "tidy")
	must(t, os.RemoveAll(w.top+"/proxy"))
	w.box = w.open(conf, nil)
	w.steps(step{root + "/bin/go build ./...", ""}, step{root + "/bin/go test ./...", "ok"})
	w.held(step{root + "/bin/go mod tidy", ""})
	if unpacked, err := filepath.Glob(w.top + "/caches/*/go/mod/example.org/dep@v1.0.0/dep.go"); err != nil || len(unpacked) != 1 {
		t.Errorf("the project's own cache has %q, %v", unpacked, err)
	}
	// A module that go.sum does not know by this content is refused, offline as well.
	sum, err := os.ReadFile(w.top + "/proj/go.sum")
	must(t, err)
	w.write("proj/go.sum", strings.Replace(string(sum), "h1:", "h1:AAAA", 1))
	if r := w.shell(root + "/bin/go build ./..."); !strings.Contains(r.Text, "checksum mismatch") && !strings.Contains(r.Text, "malformed go.sum") {
		t.Errorf("go.sum is not checked: %s %v", r.Text, r.Err)
	}
}

// registry serves one package, and wants a token as private registries do.
func registry(t testing.TB) *httptest.Server {
	t.Helper()
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	tw := tar.NewWriter(gz)
	for name, text := range map[string]string{"package.json": `{"name":"left","version":"1.0.0","main":"i.js"}`, "i.js": "module.exports = () => 42\n"} {
		must(t, tw.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text))}))
		_, err := tw.Write([]byte(text))
		must(t, err)
	}
	must(t, tw.Close())
	must(t, gz.Close())
	sum := sha512.Sum512(packed.Bytes())
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Authorization") // npm then keeps the header in its cache
		switch r.URL.Path {
		case "/left":
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{
				"name": "left", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": map[string]any{
					"name": "left", "version": "1.0.0", "dist": map[string]string{
						"tarball": s.URL + "/left/-/left-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
					},
				}},
			})
		case "/left/-/left-1.0.0.tgz":
			_, _ = w.Write(packed.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

const nodeProject = `{"name": "n", "version": "1.0.0", "dependencies": {"left": "^1.0.0"},
"scripts": {"test": "node -e 'if (require(\"left\")() !== 42) process.exit(1); console.log(\"tested\")'"}}`

// A Node project installs and tests without the network, from the user's cache; and with it,
// from a registry on loopback.
func TestNpmInAHomeWithTools(t *testing.T) {
	server := registry(t)
	w := newHome(t, developer, secretsOfAHome)
	w.write("proj/package.json", nodeProject)
	w.write("home/.npmrc", "registry="+server.URL+"/\n//"+strings.TrimPrefix(server.URL, "http://")+"/:_authToken="+planted+"\nfund=false\naudit=false\n")
	w.outside(nil, "npm", "install")
	server.Close()
	if out, _ := exec.Command("grep", "-rl", planted, w.top+"/home/.npm/_cacache/index-v5").Output(); strings.Count(string(out), "\n") < 2 {
		t.Fatalf("npm does not keep the token any more, so this test shows less: %s", out)
	}
	must(t, os.RemoveAll(w.top+"/proj/node_modules"))
	must(t, os.Remove(w.top+"/proj/package-lock.json"))
	w.write("proj/seek.py", seeker)
	w.box = w.open(developer, nil)
	w.held(step{"npm install", "added 1 package"}, step{"npm test", "tested"}, step{"rm -rf node_modules", ""}, step{"npm ci", "added 1 package"}, step{"npm test", "tested"})
	if r := w.shell("python3 seek.py"); !strings.Contains(r.Text, "LOOKED True") || strings.Contains(r.Text, "FOUND") {
		t.Errorf("%s %v", r.Text, r.Err)
	}

	server = registry(t)
	online := strings.Replace(developer, "shell:", "  network: {allow: [\""+strings.TrimPrefix(server.URL, "http://")+"\"]}\nshell:", 1)
	w = newHome(t, online, map[string]string{".npmrc": "registry=" + server.URL + "/\n"})
	w.write("proj/package.json", nodeProject)
	w.steps(step{"npm install --no-audit --no-fund", "added 1 package"}, step{"npm test", "tested"})
	if left, _ := filepath.Glob(w.top + "/home/.npm"); len(left) > 0 {
		t.Errorf("the user's own cache was written: %q", left)
	}
}

func TestPythonAndMakeInAHomeWithTools(t *testing.T) {
	w := newHome(t, developer, secretsOfAHome)
	w.write("proj/Makefile", "all: out\nout: in\n\tcp in out\n")
	w.write("proj/in", "made\n")
	w.steps(step{"python3 -m venv v", ""}, step{"v/bin/python -c 'import pip; print(6*7)'", "42"}, step{"make", "cp in out"}, step{"cat out", "made"})
}
