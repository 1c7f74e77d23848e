package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

// A shell in a program of one's own. What only reads is free, what a rule allows runs, and each
// program and file of a longer command is asked about on its own.
func Example() {
	dir, err := os.MkdirTemp("", "shell")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		log.Fatal(err)
	}
	set, err := roots.New(roots.Options{}, roots.Root{Name: ".", Host: dir, Mode: roots.ModeReadWrite})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()

	environment := []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	sh, err := shell.New(shell.Config{
		Readonly: true,
		Rules:    []shell.Rule{{Pattern: "sleep", Approval: tool.WordAllow}},
	}, set, shell.Options{
		World: func(dir string) analysis.World { return system.New(dir, environment) },
		// Package runner runs commands for real. This one only says what it was handed.
		Run: func(_ context.Context, c shell.Command) (shell.Result, error) {
			return shell.Result{Stdout: "ran " + c.Text}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		for _, act := range r.Acts {
			if act.Verdict == policy.VerdictAsk {
				fmt.Println("asked:", act)
			}
		}
		return r.Approve(""), nil
	})
	gate, err := tool.Guard(approval.Config{Approver: person}, sh)
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range []string{"ls | wc -l", "sleep 1", "ls && echo done > log.txt", "chmod +x run.sh"} {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Call(context.Background(), gate, policy.Call{Tool: "shell", Arguments: args}).Text)
	}
	// Output:
	// {"stdout":"ran ls | wc -l","stderr":"","exit_code":0}
	// {"stdout":"ran sleep 1","stderr":"","exit_code":0}
	// asked: write_file(log.txt)
	// {"stdout":"ran ls && echo done > log.txt","stderr":"","exit_code":0}
	// asked: shell(chmod +x run.sh)
	// asked: write_file(run.sh)
	// {"stdout":"ran chmod +x run.sh","stderr":"","exit_code":0}
}
