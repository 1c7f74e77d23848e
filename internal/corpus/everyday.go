package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/explain"
)

// everydayFiles has the command lines that people type every day, one a line.
const everydayFiles = "tool/shell/programs/testdata/everyday*.txt"

// A coverage is of how many everyday commands all that they do is understood.
type coverage struct {
	lines, known int
	unknown      []string
}

func (p *project) readEveryday(ctx context.Context) (coverage, error) {
	var out coverage
	files, err := filepath.Glob(everydayFiles)
	if err != nil || len(files) == 0 {
		return out, fmt.Errorf("no %s: run it from the top of the project (%v)", everydayFiles, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return out, err
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			out.count(line, p.explain(ctx, p.by["effect"], line))
		}
	}
	return out, nil
}

func (c *coverage) count(line string, a explain.Answer) {
	c.lines++
	for _, act := range a.Acts {
		if !act.Known {
			c.unknown = append(c.unknown, fmt.Sprintf("%s   [%s(%s): %s]", line, act.Tool, act.Target, act.Why))
			return
		}
	}
	if a.Error != "" {
		c.unknown = append(c.unknown, fmt.Sprintf("%s   [%s]", line, a.Error))
		return
	}
	c.known++
}

func (c *coverage) print() {
	if os.Getenv("VERBOSE") != "" {
		for _, line := range c.unknown {
			fmt.Println("unknown ", line)
		}
	}
	fmt.Printf("everyday: of %d command lines all acts of %d are known (%.1f %%); VERBOSE=1 lists the others\n",
		c.lines, c.known, percent(c.known, c.lines))
}
