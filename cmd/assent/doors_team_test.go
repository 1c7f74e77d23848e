package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/member"
)

// teamYAML is what the editor of the scene's team writes.
const teamYAML = `rules:
  - deny read_file(teams/**)
  - deny shell(lintall --linted --team)
  - allow shell(lintall --teams)
deciders:
  - acts: ["shell(lintall --deploy *)", "write_file(drafts/prod/**)", "notes:echo"]
    need: [{from: sre, count: 2}]
`

// teamCalls are judged under a fresh policy of the team, besides those of everybody else.
var teamCalls = []doorCall{
	{"free read", "read_file", `{"path":"a.txt"}`, "runs", "", nil},
	{"read that the team denies", "read_file", `{"path":"teams/x.txt"}`, "refused", "deny read_file(teams/**)", nil},
	{"read that the administrator denies", "read_file", `{"path":"admins/x.txt"}`, "refused", "deny read_file(admins/**)", nil},
	{"command that the team allows", "shell", `{"command":"lintall --teams"}`, "runs", "allow shell(lintall --teams)", nil},
	{"command that the user allows and the team denies", "shell", `{"command":"lintall --linted --team"}`, "refused", "deny shell(lintall --linted --team)", nil},
	{"command that the user allows", "shell", `{"command":"lintall --linted"}`, "runs", "allow shell(lintall --linted)", nil},
	{"command that others decide about", "shell", `{"command":"lintall --deploy all"}`, "asks", "2 of sre, with a passkey", nil},
	{"write that the project allows and others decide about", "write_file", `{"path":"drafts/prod/a.md","content":"n\n"}`, "asks", "2 of sre", nil},
	{"connector's tool that config allows and others decide about", "notes:echo", `{"text":"hi"}`, "asks", "2 of sre", nil},
	{"unreadable code", "shell", `{"command":"python3 -c 'print(1)'"}`, "asks", "2 of sre", nil},
	{"write to the team's policy", "write_file", `{"path":"$STATE/assent/team/bundle","content":"n\n"}`, "refused", "", nil},
}

// unusable are judged while the policy cannot be used: allows of nobody count, and what is reserved is refused. Where
// nobody can know what is reserved, everything is.
func unusable(why string, known bool) []doorCall {
	if !known {
		return []doorCall{
			{"free read", "read_file", `{"path":"a.txt"}`, "refused", why, nil},
			{"command that others decide about", "shell", `{"command":"lintall --deploy all"}`, "refused", why, nil},
			{"read that the administrator denies", "read_file", `{"path":"admins/x.txt"}`, "refused", "deny read_file(admins/**)", nil},
		}
	}
	return []doorCall{
		{"free read", "read_file", `{"path":"a.txt"}`, "asks", why, nil},
		{"command that the user allows", "shell", `{"command":"lintall --linted"}`, "asks", why, nil},
		{"read that the administrator denies", "read_file", `{"path":"admins/x.txt"}`, "refused", "deny read_file(admins/**)", nil},
		{"command that others decide about", "shell", `{"command":"lintall --deploy all"}`, "refused", why, nil},
		{"read that the team denies", "read_file", `{"path":"teams/x.txt"}`, "refused", "deny read_file(teams/**)", nil},
	}
}

// A sceneTeam is the team that a scene's machine belongs to.
type sceneTeam struct {
	signer note.Signer
	team   config.Team
	key    ed25519.PrivateKey
}

func newSceneTeam(t *testing.T) *sceneTeam {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "acme")
	if err != nil {
		t.Fatal(err)
	}
	signer, signErr := note.NewSigner(private)
	_, key, keyErr := ed25519.GenerateKey(rand.Reader)
	if err := errors.Join(signErr, keyErr); err != nil {
		t.Fatal(err)
	}
	return &sceneTeam{signer, config.Team{Trust: public, Name: "acme"}, key}
}

// sign returns the team's policy with a serial.
func (tm *sceneTeam) sign(t *testing.T, serial int64, change func(*bundle.Bundle)) []byte {
	t.Helper()
	source, err := bundle.Parse("team.yaml", []byte(teamYAML))
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle.Bundle{
		Version: bundle.Version, Tenant: "acme", Serial: serial, Issued: time.Now().Add(-time.Hour).UTC(), Expires: time.Now().Add(24 * time.Hour).UTC(),
		People:   []bundle.Person{{ID: "p_ann", Name: "Ann", Groups: []string{"sre"}}},
		Machines: []bundle.Machine{{ID: "g_1", Public: tm.key.Public().(ed25519.PublicKey), Host: "h", Sponsor: "p_ann"}},
	}
	source.Into(b)
	if change != nil {
		change(b)
	}
	data, err := bundle.Sign(b, tm.signer)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDoorsOfATeam takes calls through every door of a machine that belongs to a team. All doors read its policy alike,
// so one of each kind sees what can be wrong with it.
func TestDoorsOfATeam(t *testing.T) {
	t.Parallel()
	s, tm, other := newScene(t, true), newSceneTeam(t), newSceneTeam(t)
	admin := func(more string) string {
		return doorAdmin + fmt.Sprintf("team: {trust: %q, name: acme%s}\n", tm.team.Trust, more)
	}
	s.put("admin/policy.yaml", admin(""))
	s.put("project/home/config/assent/config.yaml", "hook: {deadline: 100ms}\n"+doorUser)
	s.put("project/teams/x.txt", "t\n")
	s.put("project/drafts/prod/x.md", "")
	state := filepath.Join(s.state, "assent")
	machine := &member.Machine{Tenant: "acme", Gate: "g_1", Server: "https://assent.example.org", Private: tm.key}
	_, err := member.SaveBundle(state, tm.team, tm.sign(t, 7, nil))
	if err := errors.Join(err, member.SaveMachine(state, machine)); err != nil {
		t.Fatal(err)
	}
	replaced := func(data func(*testing.T, []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			old, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, data(t, old), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, file string)
		calls []doorCall
		admin string
	}{
		{"fresh", func(*testing.T, string) {}, teamCalls, ""},
		{"stale", func(t *testing.T, file string) {
			long := time.Now().Add(-25 * time.Hour)
			if err := os.Chtimes(file, long, long); err != nil {
				t.Fatal(err)
			}
		}, unusable("was last confirmed", true), ""},
		{"none", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, unusable("the bundle is missing", false), ""},
		{"rolled back", replaced(func(t *testing.T, _ []byte) []byte { return tm.sign(t, 6, nil) }), unusable("had 7 already", false), ""},
		{"stripped", replaced(func(_ *testing.T, old []byte) []byte {
			text, _, _ := strings.Cut(string(old), "\n\n")
			return []byte(text + "\n")
		}), unusable("refused", false), ""},
		{"wrong key", replaced(func(t *testing.T, _ []byte) []byte { return other.sign(t, 8, nil) }), unusable("not signed with the team's key", false), ""},
		{"wrong tenant", replaced(func(t *testing.T, _ []byte) []byte {
			return tm.sign(t, 8, func(b *bundle.Bundle) { b.Tenant = "evil" })
		}), unusable("of the team \"evil\"", false), ""},
		{"edited", replaced(func(_ *testing.T, old []byte) []byte {
			return []byte(strings.Replace(string(old), "deny read_file(teams/**)", "deny read_file(other/**)", 1))
		}), unusable("refused", false), ""},
		{"none, and the administrator denies", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, []doorCall{{"free read", "read_file", `{"path":"a.txt"}`, "refused", "the bundle is missing", nil}}, ", stale: deny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.put("admin/policy.yaml", admin(c.admin))
			reasons := map[string]judged{}
			for _, d := range allDoors() {
				if c.name != "fresh" && !slices.Contains([]string{"run", "mcp", "hook claude-code"}, d.name) {
					continue
				}
				t.Run(d.name, func(t *testing.T) {
					own := s.at(t, c.name+" "+d.name)
					c.spoil(t, member.BundleFile(filepath.Join(own.state, "assent")))
					own.agree(d, c.calls, reasons)
				})
			}
		})
	}
}
