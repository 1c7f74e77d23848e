//go:build all

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registry serves one package over http, as npm's own does. It has a script that calls another host
// when it is installed, and goes on without.
func registry(t *testing.T, dir string) (port string) {
	t.Helper()
	about := map[string]any{
		"name": "leaf", "version": "1.0.0", "main": "index.js",
		"scripts": map[string]string{"postinstall": "node -e \"fetch('http://tracker.elsewhere.test/').catch(() => 0)\""},
	}
	manifest, err := json.Marshal(about)
	if err != nil {
		t.Fatal(err)
	}
	var ball bytes.Buffer
	gz := gzip.NewWriter(&ball)
	tw := tar.NewWriter(gz)
	for name, text := range map[string]string{"package/package.json": string(manifest), "package/index.js": "// a leaf\n"} {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, text); err != nil {
			t.Fatal(err)
		}
	}
	if tw.Close() != nil || gz.Close() != nil {
		t.Fatal("no archive")
	}
	sum := sha512.Sum512(ball.Bytes())
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	about["hasInstallScript"] = true
	about["dist"] = map[string]string{
		"tarball":   "http://localhost:" + u.Port() + "/leaf/-/leaf-1.0.0.tgz",
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	mux.HandleFunc("/leaf", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "leaf", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": about}})
	})
	mux.HandleFunc("/leaf/-/leaf-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(ball.Bytes()) })
	for name, text := range map[string]string{
		"package.json": `{"name":"top","version":"1.0.0","private":true}`,
		".npmrc":       "registry=http://localhost:" + u.Port() + "/\naudit=false\nfund=false\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return u.Port()
}

// An install from the registry that was agreed to runs without a question; a script of the
// package that calls elsewhere waits for an answer that names the host and the command.
// S51 Only that host.
func TestOnlyThatHost_Install(t *testing.T) {
	s := tell(t, quietNetwork, []call{command("a", "npm install leaf")})
	port := registry(t, filepath.Join(s.dir, "notes"))
	s.put("policy.yaml", strings.ReplaceAll(quietNetwork, "PORT", port))
	x := s.run()
	x.asked("Connect to tracker.elsewhere.test:80", "npm install leaf", "node")
	x.types("n")
	x.ends(0, "✓ shell: free", "added 1 package", "tracker.elsewhere.test")
	s.has("notes/node_modules/leaf/index.js", "// a leaf\n")
}

// The same behind a gateway, where nobody is there to be asked.
func TestMCPInstallByName(t *testing.T) {
	policy, dir := notesPolicy(t, "")
	port := registry(t, dir)
	text := strings.ReplaceAll(strings.Replace(quietNetwork, "{mode: rw", "{root: ./notes, mode: rw", 1), "PORT", port)
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startMCP(t, assent(t, nil, "mcp", "--state", t.TempDir(), "-c", policy, "--tools", "shell", "--strict"))
	got := c.call("shell", `{"command":"npm install leaf"}`)
	if !strings.Contains(got, "added 1 package") || !strings.Contains(got, "connection to tracker.elsewhere.test:80 refused") {
		t.Errorf("%s", got)
	}
}
