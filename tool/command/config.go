package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// DefaultTimeout is for tools that name none.
const DefaultTimeout = 2 * time.Minute

// A Config is a custom tool as config has it. Name and Command are needed.
type Config struct {
	Name string
	// Description is for the model.
	Description string
	// Command is the program and its arguments. A program with a slash in it is relative
	// to the folder that it runs in; one without is looked for in PATH.
	Command []string
	// Parameters is the JSON schema of the arguments; empty takes anything.
	Parameters json.RawMessage
	// Approval is what config says; empty asks.
	Approval tool.Word
	// Reason is told when the tool is denied.
	Reason string
	// Describe is a template for the summary of a call, in one line.
	Describe string
	// View says how a call is shown; the zero View shows the arguments.
	View View
	// Target is a template for what a call is about: calls with the same target are the
	// same act. Empty means that every argument counts.
	Target string
	// Timeout ends the program; 0 means [DefaultTimeout].
	Timeout time.Duration
	// Env are names of variables that are passed on besides the usual ones.
	Env []string
	// Definition is the file that description and parameters were read from; empty if they
	// stand in the config itself.
	Definition string
	// Trusted are the files of the program as somebody has trusted them. Nil means that what
	// is there when the tool is made is trusted.
	Trusted Files
	// Source is the file and line, for the person who asks why.
	Source string
}

// A View says how a call is shown.
type View struct {
	// Type is text, diff, file, command or structured.
	Type string
	// Content is a template.
	Content string
	// Language is a hint for highlighting.
	Language string
}

// kinds are the types of a view as config writes them.
var kinds = map[string]present.Kind{
	"text": present.KindText, "diff": present.KindDiff, "file": present.KindFile, "file_content": present.KindFile,
	"command": present.KindCommand, "structured": present.KindStructured,
}

// Types are the types of a view, for whoever reads config.
func Types() []string { return []string{"text", "diff", "file", "command", "structured"} }

// Check reports what is wrong with the config, all of it. It opens nothing.
func (c Config) Check() error {
	_, err := c.compile()
	return err
}

// compile checks the config and makes its templates ready.
func (c Config) compile() (templates, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Name == "" {
		fault("it has no name")
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		fault("it has no command; write command: [PROGRAM, ARGUMENT…], or put an executable named %s into tools/", c.Name)
	}
	if slices.ContainsFunc(c.Command, func(word string) bool { return strings.ContainsRune(word, 0) }) {
		fault("its command has a NUL character, which no command line can carry")
	}
	if c.Approval != "" {
		if _, err := tool.ParseWord(string(c.Approval)); err != nil {
			faults = append(faults, err)
		}
	}
	if c.Timeout < 0 {
		fault("its timeout is negative")
	}
	for _, name := range c.Env {
		if !runner.MayPass(name) {
			fault("env: %q may not be passed to programs; it is not a name, or it makes programs run other code", name)
		}
	}
	compiled, more := c.templates()
	return compiled, errors.Join(append(faults, more...)...)
}
