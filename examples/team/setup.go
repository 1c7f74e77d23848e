package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/team/testissuer"
)

// tenant is the team's name.
const tenant = "acme"

// teamPolicy is what Bob publishes: notes are free, and what is in data goes only if two who are on call agree, who are
// not the person behind the agent. Whatever it does not name asks, as everywhere.
const teamPolicy = `version: 1
rules:
  - allow write_file(notes/*)
deciders:
  - acts: ["delete_file(data/*)"]
    need: [{from: oncall, count: 2}]
    not: [sponsor]
    proof: passkey
    expires: 1h
max_age: 24h
stale: ask
`

// setUp goes the way of docs/teams.md.
func setUp(s *stage) {
	s.act("A team is set up")
	s.buildPrograms()
	dsn := s.startPostgres()
	s.ok("PostgreSQL runs in a folder of its own.")

	var err error
	s.issuer, err = testissuer.Start("127.0.0.1:0", testissuer.Person{Subject: "ann", Name: "Ann"},
		testissuer.Person{Subject: "bob", Name: "Bob"}, testissuer.Person{Subject: "cleo", Name: "Cleo"})
	must(err)
	s.ending(func() { _ = s.issuer.Close() })
	s.front = newFront()
	s.ending(func() { _ = s.front.listener.Close() })
	s.makeCertificates()
	must(os.Mkdir(s.path("admin"), 0o700))
	alone := func(args ...string) string { return s.works(s.start(s.command(s.path("admin"), nil, args...))) }
	s.trust = alone("policy", "key", tenant, "--file", s.path("admin", "acme.key"))
	s.logKey = alone("serve", "key", s.path("serve", "log.key"), "--tenant", tenant)
	s.write(dsn, "serve", "dsn")
	s.write(s.issuer.Secret, "serve", "oidc.secret")
	// A passkey would wait a day, so that people hear of one that is not theirs, and the demo has no day.
	s.write(fmt.Sprintf(`tenant: %s
team: Acme
listen: 127.0.0.1:0
url: %s
tls: {certificate: tls.pem, key: tls.key}
database: {dsn_file: dsn}
trust: %s
log_key: log.key
oidc: {issuer: "%s", client_id: %s, client_secret_file: oidc.secret}
metrics: "off"
passkey_wait: 0s
checkpoint_each: 1s
`, tenant, s.front.url, s.trust, s.issuer.URL, s.issuer.Client), "serve", "serve.yaml")
	alone("serve", "--config", s.path("serve", "serve.yaml"), "--check")
	s.serve("replica 1")
	s.serve("replica 2")
	s.ok("Two replicas of assent serve run behind %s.", s.front.url)

	for _, name := range []string{"Ann", "Bob", "Cleo"} {
		s.admin("people", "add", strings.ToLower(name), "--name", name, "--issuer", s.issuer.URL, "--subject", strings.ToLower(name))
	}
	s.admin("groups", "add", "oncall", "ann", "bob", "cleo")
	s.ann, s.bob, s.cleo = s.arrives("Ann"), s.arrives("Bob"), s.arrives("Cleo")
	for _, p := range []*person{s.ann, s.bob, s.cleo} {
		p.enrol(s.admin("people", "invite", strings.ToLower(p.name)))
	}
	s.ok("Ann, Bob and Cleo are on call. Each has signed in and made a passkey by invitation.")

	// What an administrator writes on each machine as root: whose signature counts.
	s.write("version: 1\nteam:\n  name: "+tenant+"\n  trust: "+s.trust+"\n", "etc", "policy.yaml")
	s.ending(s.bridgesEnd)
	s.laptop, s.build, s.desk = s.joins("laptop", "ann"), s.joins("build", "bob"), s.joins("desk", "cleo")
	s.ok("Three machines have joined: laptop of Ann, build of Bob, desk of Cleo. Each has its own key.")

	s.publish()
	for _, m := range []*machine{s.laptop, s.build, s.desk} {
		s.until("the policy at "+m.name, func() bool {
			_, err := os.Stat(m.state("team", "bundle"))
			return err == nil && strings.Contains(m.works("status"), "connected")
		})
	}
	s.ok("Bob signed the policy with the team's key, which no server has. Every machine has it and has checked it.")
}

// publish signs the policy, as somebody does who has the team's key and is not at the server.
func (s *stage) publish() {
	file := s.write(teamPolicy, "admin", "team.yaml")
	s.works(s.start(s.command(s.path("admin"), []string{"SSL_CERT_FILE=" + s.path("ca.pem")}, "policy", "publish", file,
		"--key", s.path("admin", "acme.key"), "--editor", "bob", "--server", s.front.url, "--yes")))
}

// buildPrograms builds assent with an administrator's file in the folder of the demo, which stands for the one in /etc
// of each machine. Nothing but the build can move it: an agent could else choose its own administrator.
func (s *stage) buildPrograms() {
	admin := s.path("etc", "policy.yaml")
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		fail("the demo builds assent from its source: run it in the repository, with go on the PATH (%v)", err)
	}
	build := exec.CommandContext(s.ctx, "go", "build", "-buildvcs=false", "-ldflags", "-s -w -X "+modulePath+"/internal/setup.Administrator="+admin,
		"-o", filepath.Dir(s.program)+string(filepath.Separator), "./cmd/assent")
	build.Dir = strings.TrimSpace(string(module))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fail("building assent: %v\n%s", err, out)
	}
	s.ok("assent is built.")
}

const modulePath = "github.com/assent-dev/assent"
