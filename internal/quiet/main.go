// Command quiet counts the questions that a person is asked during three days of work: a coding
// agent's calls in a Go, a Node and a Python project, judged one after another by
// assent explain --batch under two policies.
//
//	go run ./internal/quiet [-v] [-policy FILE] [-run] [-for AGENT [-judge] [-day NAME]] [PROGRAM]
//
// PROGRAM is bin/assent unless another is named. The policies are the two that assent init
// writes, careful and quiet. It fails if the quiet one asks more than once in twenty calls.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/assent-dev/assent/internal/explain"
)

// most is how many questions in twenty calls a quiet policy may ask.
const most = 1

// A policy is one that the days are judged under.
type policy struct {
	name string
	text []byte // nil for what assent init --policy NAME writes
}

func main() {
	verbose := flag.Bool("v", false, "list the calls that are asked or denied")
	work := flag.Bool("run", false, "run the days' commands outside and inside instead: what works outside must work inside")
	file := flag.String("policy", "", "judge the days under this policy instead")
	agent := flag.String("for", "", "play the days through the hooks of this agent instead, and run what may run: "+
		"claude-code, codex, gemini")
	judge := flag.Bool("judge", false, "with -for: only ask the hooks, and run nothing")
	only := flag.String("day", "", "with -for: only this day: go, node, python")
	flag.Parse()
	program := "bin/assent"
	if flag.NArg() > 0 {
		program = flag.Arg(0)
	}
	if *agent != "" {
		if err := hooks(context.Background(), os.Stdout, program, how{*agent, *only, *judge, *verbose}); err != nil {
			fmt.Fprintln(os.Stderr, "quiet:", err)
			os.Exit(1)
		}
		return
	}
	if *work {
		if err := works(context.Background(), os.Stdout, program); err != nil {
			fmt.Fprintln(os.Stderr, "quiet:", err)
			os.Exit(1)
		}
		return
	}
	if err := measure(context.Background(), os.Stdout, program, *file, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "quiet:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, out io.Writer, program, file string, verbose bool) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	policies := []policy{{name: "careful"}, {name: "quiet"}}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		policies = []policy{{filepath.Base(file), text}}
	}
	days, err := readDays()
	if err != nil {
		return err
	}
	for _, p := range policies {
		t := &tally{policy: p.name}
		for _, d := range days {
			answers, err := judgeWith(ctx, program, p, d)
			if err != nil {
				return fmt.Errorf("%s day, policy %s: %w", d.name, p.name, err)
			}
			t.count(d, answers)
		}
		t.print(out, verbose)
		if asked := t.all().inTwenty(); p.name == "quiet" && asked > most {
			return fmt.Errorf("the quiet policy asks %.1f questions in 20 calls, and may ask %d; "+
				"the calls are listed with -v", asked, most)
		}
	}
	return nil
}

// judgeWith unpacks a day's project and has the program judge its calls, each before the next is
// made.
func judgeWith(ctx context.Context, program string, p policy, d day) (answers []explain.Answer, err error) {
	top, err := os.MkdirTemp("", "assent-quiet-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	dir, err := d.unpack(top)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, ".assent", "policy.yaml")
	if p.text != nil {
		err = write(file, string(p.text))
	} else {
		err = run(dir, program, "init", "--policy", p.name)
	}
	if err != nil {
		return nil, err
	}
	home := filepath.Join(top, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}

	c := exec.CommandContext(ctx, program, "explain", "--state", filepath.Join(top, "state"), "-c", file, "--batch")
	c.Dir, c.Stderr = dir, os.Stderr
	// The person's own settings must not change the numbers.
	c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "PWD="+dir)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	reply, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("%w; build it with make build", err)
	}
	enc, dec := json.NewEncoder(in), json.NewDecoder(reply)
	answers, err = d.judge(dir, func(call explain.Call) (a explain.Answer, err error) {
		if err := enc.Encode(call); err != nil {
			return a, err
		}
		return a, dec.Decode(&a)
	})
	return answers, errors.Join(err, in.Close(), c.Wait())
}
