package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/assent-dev/assent/present"
)

// denied is the status of a call that was refused.
const denied = 3

// onlyDeny is what assent says to somebody at a machine who would approve what others decide about.
const onlyDeny = "an answer at this machine can only deny this"

// onThePhone: a question reaches the phone; the person reads the whole diff and approves with a touch.
func onThePhone(s *stage) {
	s.act("On the phone")
	m := s.laptop
	s.write("---\nname: clerk\ndescription: Keeps the prices.\nsandbox:\n  paths:\n    .: {mode: rw}\n---\nYou keep the prices.\n",
		m.name, "shop", "clerk.worker")
	s.write("turns:\n  - say: Pears became dearer.\n    calls:\n      - {id: price, tool: write_file, args: {path: prices.txt, "+
		"content: \"apples 3\\npears 5\\n\"}}\n  - if: {call: price, denied: false}\n    say: The price is changed.\n",
		m.name, "shop", "script.yaml")
	m.trusts("clerk.worker")
	agent := m.starts("run", "--ask", "inbox", "--model", "script:script.yaml", "clerk.worker", "Pears cost 5 now.")
	s.say("An agent on laptop wants to change prices.txt.")
	q := s.ann.asked("prices.txt")
	d := s.ann.reads(q.ID)
	s.ok("The question is on Ann's phone: %s (%s).", q.Summary, q.Need)
	if d.View.Kind != present.KindDiff || !strings.Contains(d.View.Content, "-pears 4") || !strings.Contains(d.View.Content, "+pears 5") {
		fail("Ann does not see what changes: %+v", d.View)
	}
	s.quote(d.View.Safe().Content)

	// Somebody who got into Ann's session, with a passkey of their own: the same browser, another key.
	thief := *s.ann
	thief.key = newPasskey()
	if words, err := thief.vote(q.ID); err == nil {
		fail("a passkey that nobody signed in counts: %s", words)
	} else {
		s.ok("A stolen session cannot say yes for her: %v.", err)
	}
	if !m.has("prices.txt", "apples 3\npears 4\n") {
		fail("prices.txt changed before anybody agreed")
	}

	began := time.Now()
	s.ann.yes(q.ID)
	s.until("the change of prices.txt", func() bool { return m.has("prices.txt", "apples 3\npears 5\n") })
	s.ok("Ann touches her phone. The call ran %d ms later.", time.Since(began).Milliseconds())
	if out := s.works(agent); !strings.Contains(out, "The price is changed.") {
		fail("the agent does not know that its call ran: %s", agent.said())
	}
}

// twoOfThree: deleting a database needs two of the on-call group, and not the person whose agent asks.
func twoOfThree(s *stage) {
	s.act("Two of three")
	m := s.build
	agent := m.calls("delete_file", object{"path": "data/shop.db"})
	s.say("An agent on build, which is Bob's, wants to delete the database.")
	q := s.ann.asked("data/shop.db")
	s.deleted = q.ID
	s.ok("The question goes to the people on call: %s.", q.Need)

	local := s.refused(m.starts("approve", m.waits()), 1, onlyDeny)
	s.ok("Bob cannot approve it at his machine:")
	s.quote(local)
	words, err := s.bob.vote(q.ID)
	if err == nil || !strings.Contains(err.Error(), "Bob is behind the agent") {
		fail("Bob's yes counts, though he is behind the agent: %q, %v", words, err)
	}
	s.ok("Bob's yes on the phone does not count, because he is behind the agent:")
	s.quote(err.Error())
	words = s.ann.yes(q.ID)
	if state := s.ann.reads(q.ID); state.Ended != "" || m.gone("data/shop.db") {
		fail("it ended before two had agreed: %s", state.Ended)
	}
	s.ok("Ann said yes. The database is still there.")
	s.quote(words)

	began := time.Now()
	s.cleo.asked("data/shop.db")
	words = s.cleo.yes(q.ID)
	s.until("the deletion", func() bool { return m.gone("data/shop.db") })
	s.ok("Cleo said yes. The database is gone, %d ms later.", time.Since(began).Milliseconds())
	s.quote(words)
	s.works(agent)

	runs, voters, _ := m.record(q.ID)
	if runs != 1 || len(voters) != 2 || !strings.Contains(strings.Join(voters, " "), "p_ann") || !strings.Contains(strings.Join(voters, " "), "p_cleo") {
		fail("the record has %d runs, by %q", runs, voters)
	}
	s.ok("It ran once. The record has two signatures: %s.", strings.Join(voters, " and "))
}

// record reads what a machine recorded about a request: how often it ran, whose votes that needed, and the number of the
// record of its end.
func (m *machine) record(request string) (runs int, voters []string, seq int64) {
	var story struct {
		Records []struct {
			Seq   int64
			Kind  string
			Votes []struct {
				Person, Name, Strength string
				Proof                  struct{ Signature []byte }
			}
		}
	}
	must(json.Unmarshal([]byte(m.works("audit", "show", request, "--json")), &story))
	for _, r := range story.Records {
		if r.Kind == "started" {
			runs++
		}
		if r.Kind != "ended" {
			continue
		}
		seq, voters = r.Seq, nil
		for _, v := range r.Votes {
			if len(v.Proof.Signature) == 0 {
				fail("the vote of %s has no signature", v.Person)
			}
			voters = append(voters, fmt.Sprintf("%s (%s, %s)", v.Name, v.Person, v.Strength))
		}
	}
	return runs, voters, seq
}

// serverAway: what is allowed still runs, what may be asked at the machine is, the rest waits or is refused, and
// nothing is lost.
func serverAway(s *stage) {
	s.act("The server is away")
	s.before = s.write(s.shipped(s.build, "seal"), "auditor", "before.checkpoint")
	s.stopServers()
	s.say("Both replicas are stopped.")
	m := s.desk
	s.works(m.calls("write_file", object{"path": "notes/today.md", "content": "quiet\n"}))
	if !m.has("notes/today.md", "quiet\n") {
		fail("notes/today.md was not written")
	}
	s.ok("What the signed policy allows runs: notes/today.md is written.")

	asks := m.calls("write_file", object{"path": "prices.txt", "content": "apples 2\n"})
	m.works("approve", m.waits())
	s.works(asks)
	s.ok("A call without deciders asks at the machine, where Cleo approved it.")

	reserved := m.calls("delete_file", object{"path": "data/shop.db"})
	s.refused(m.starts("approve", m.waits()), 1, onlyDeny)
	if m.gone("data/shop.db") {
		fail("a call that two must agree to ran without them")
	}
	s.ok("A call that needs two people waits: nobody at the machine can approve it.")

	yesterday := time.Now().Add(-25 * time.Hour) // the clock of a machine that was off since then
	must(os.Chtimes(s.build.state("team", "bundle"), yesterday, yesterday))
	s.write("all that was sold today\n", s.build.name, "shop", "data", "new.db")
	s.ok("On a machine without contact for 25 hours, such a call is refused with the reason:")
	s.quote(s.refused(s.build.calls("delete_file", object{"path": "data/new.db"}), denied, "was last confirmed"))

	s.serve("replica 1")
	s.serve("replica 2")
	s.say("Both replicas are back.")
	q := s.ann.asked("data/shop.db")
	s.ok("The question that waited reaches Ann and Bob by itself: %s.", q.Need)
	s.ann.yes(q.ID)
	s.bob.asked("data/shop.db")
	s.bob.yes(q.ID)
	s.works(reserved)
	if runs, voters, _ := m.record(q.ID); runs != 1 || len(voters) != 2 || !m.gone("data/shop.db") {
		fail("it ran %d times, by %q", runs, voters)
	}
	s.ok("They agree, and it runs, once.")
	s.until("the policy at build", func() bool { return !strings.Contains(s.build.works("status"), "last confirmed 25h") })
	for _, m := range []*machine{s.laptop, s.build, s.desk} {
		s.shipped(m, "verify")
	}
	s.ok("Every record of the time without a server is in the server's log.")
}

// shipped waits until all records of a machine are in a checkpoint of the server, and then runs the command of audit
// about the server's log.
func (s *stage) shipped(m *machine, command string) (out string) {
	s.until("all records of "+m.name+" in a checkpoint", func() bool {
		c := m.starts("audit", "verify", "--server")
		return s.finish(c) == 0 && !strings.Contains(c.said(), "newer ones")
	})
	return m.works("audit", command, "--server") + "\n"
}

// proveIt: somebody outside checks that a record is in the log, unchanged, and that the log only grew.
func proveIt(s *stage) {
	s.act("Prove it")
	m := s.build
	s.ok("Bob's machine finds its own log in that of the server:")
	s.quote(s.shipped(m, "verify"))
	_, _, seq := m.record(s.deleted)
	proof := m.works("audit", "prove", fmt.Sprint(seq), "--server", "--since", s.before)
	file := s.write(proof, "auditor", "proof.json")
	verify := func(file string) *command {
		return s.start(s.command(s.path("auditor"), nil, "audit", "verify", "--proof", file, "--log-key", s.logKey, "--since", s.before))
	}
	s.ok("An auditor checks the proof with the key of the log and an older checkpoint, without any server:")
	s.quote(s.works(verify(file)))

	body := regexp.MustCompile(`("body":\s*")(.)`)
	changed := body.ReplaceAllStringFunc(proof, func(text string) string {
		other := "A"
		if strings.HasSuffix(text, other) {
			other = "B"
		}
		return text[:len(text)-1] + other
	})
	if changed == proof {
		fail("%s has no record", filepath.Base(file))
	}
	s.ok("With one changed letter in the record, the check fails:")
	s.quote(s.refused(verify(s.write(changed, "auditor", "changed.json")), 1, "does not hold"))
}

func (s *stage) summary() {
	s.act("What was shown")
	s.say("S60  A person answered a question on a phone with a passkey; a stolen session could not.")
	s.say("S61  Two of three agreed, and not the person behind the agent; it ran once, with both signatures on record.")
	s.say("S62  Without a server, machines continued with what was allowed and refused the rest; nothing was lost.")
	s.say("S63  Somebody outside checked that a record is in the log, and that nothing was removed from it.")
	s.say("It took %d seconds.", int(time.Since(s.began).Seconds()))
}

// stay leaves everything running, with a question that waits, until Ctrl-C.
func (s *stage) stay() {
	s.laptop.calls("write_file", object{"path": "prices.txt", "content": "apples 1\npears 1\n"})
	q := s.ann.asked("prices.txt")
	s.act("Everything keeps running until you press Ctrl-C")
	s.say("Open %s and sign in as Ann. There is no password.", s.front.url)
	s.say("Your browser will warn about the certificate, whose authority is %s.", s.path("ca.pem"))
	s.say("A question of laptop waits for Ann: %s. She can deny it there.", q.Summary)
	s.say("To approve it, make a passkey on the page Keys with the code that this command prints:")
	s.say("  %s people invite ann --config %s", s.program, s.path("serve", "serve.yaml"))
	s.say("Then sign the passkey into the policy:")
	s.say("  %s policy publish %s --key %s --editor bob --config %s", s.program, s.path("admin", "team.yaml"), s.path("admin", "acme.key"),
		s.path("serve", "serve.yaml"))
	<-s.ctx.Done()
	fmt.Println()
}
