package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/policy"
)

// maxLine is the longest call that is read.
const maxLine = 16 << 20

// ReadCalls reads one call a line, {"tool": …, "args": {…}}, as explain takes them; file is
// the name in errors.
func ReadCalls(file string, in io.Reader) ([]explain.Call, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var out []explain.Call
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var c explain.Call
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil || d.More() {
			return nil, fmt.Errorf("%s:%d: this is no call (%v); write {\"tool\": …, \"args\": {…}}", file, n, err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

// Prepare makes a case of a call that nobody has answered.
func Prepare(ctx context.Context, tools approval.Preparer, c explain.Call) (Case, error) {
	args, err := canonical.CanonicalArguments(c.Args)
	if err != nil {
		return Case{}, err
	}
	call := policy.Call{Tool: c.Tool, Arguments: args}
	if connector, name, ok := strings.Cut(c.Tool, ":"); ok {
		call.Connector, call.Tool = connector, name
	}
	p, err := tools.Prepare(ctx, call)
	return Case{Call: call, Acts: p.Acts}, err
}
