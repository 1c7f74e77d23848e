package main

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// report is what one run of go test said.
type report struct {
	results []result
	other   []string // lines that are no results
	failed  bool
}

// result is one benchmark. Numbers stay as go test wrote them; a missing one is empty.
type result struct {
	pkg, name             string
	nsOp, bytesOp, allocs string
	own                   []string // what the benchmark measures itself, each with its unit
}

// go test appends the number of processors when it is not one.
var processors = regexp.MustCompile(`-\d+$`)

func parse(r io.Reader) (report, error) {
	var rep report
	var pkg string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20) // a benchmark may log long lines
	for lines.Scan() {
		line := lines.Text()
		if p, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = p
			continue
		}
		if res, ok := parseResult(line); ok {
			res.pkg = pkg
			rep.results = append(rep.results, res)
			continue
		}
		rep.other = append(rep.other, line)
		rep.failed = rep.failed || strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") || strings.HasPrefix(line, "FAIL")
	}
	return rep, lines.Err()
}

// parseResult reads a line such as
//
//	BenchmarkReview/rules=10-2   50000   2345 ns/op   512 B/op   7 allocs/op
func parseResult(line string) (result, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return result{}, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return result{}, false
	}
	res := result{name: processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")}
	for i := 2; i+1 < len(fields); i += 2 {
		switch fields[i+1] {
		case "ns/op":
			res.nsOp = fields[i]
		case "B/op":
			res.bytesOp = fields[i]
		case "allocs/op":
			res.allocs = fields[i]
		default:
			res.own = append(res.own, fields[i]+" "+fields[i+1])
		}
	}
	return res, res.nsOp != ""
}
