package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/present"
)

// What a program may take.
const (
	Limit = 10 * time.Second // how long it runs
	Most  = 4                // how many run at a time, for one who is asked
)

// maxSummary is how many characters of a summary are told.
const maxSummary = 300

// A program is what is told.
type program struct {
	command []string
	running chan struct{} // holds a token for each that runs
}

// A Notice is what it is told.
type Notice struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool"`
	Summary string    `json:"summary"`
	Project string    `json:"project,omitempty"` // the name of its folder
	Until   time.Time `json:"until,omitzero"`    // when who asks stops waiting
	Urgency string    `json:"urgency"`           // Normal or High
}

// How urgent a notice is: high if only a person can answer, or if who asks waits for less than two minutes more.
const (
	Normal = "normal"
	High   = "high"
)

func noticeOf(r *approval.Request) Notice {
	summary := []rune(present.SafeLine(redact.Text(r.Summary)))
	if len(summary) > maxSummary {
		summary = append(summary[:maxSummary-1], '…')
	}
	n := Notice{ID: r.ID, Tool: present.SafeLine(r.Call.Name()), Summary: string(summary), Until: r.Origin.Until}
	n.Urgency = Normal
	if r.PersonOnly || !n.Until.IsZero() && time.Until(n.Until) < 2*time.Minute {
		n.Urgency = High
	}
	if r.Origin.Folder != "" {
		n.Project = present.SafeLine(filepath.Base(r.Origin.Folder))
	}
	return n
}

// tell starts the program, unless too many run, and does not wait for it.
func (p *program) tell(r *approval.Request) {
	select {
	case p.running <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-p.running }()
		p.run(noticeOf(r))
	}()
}

// run runs the program until it ends or has taken too long. How it ends changes nothing,
// and there is nowhere to say it: a prompt is on the screen.
func (p *program) run(n Notice) {
	said, err := json.Marshal(n)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Env = append(os.Environ(), "ASSENT_REQUEST="+n.ID, "ASSENT_TOOL="+n.Tool, "ASSENT_SUMMARY="+n.Summary)
	cmd.Stdin = bytes.NewReader(append(said, '\n'))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the terminal is not its own
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}
