package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// module is left out of package names: every package is one of ours.
const module = "github.com/assent-dev/assent/"

// row is one line of cells; a row with one cell is a heading and sets no width.
type row []string

// table lays the results out under a heading for each package.
func table(results []result) string {
	if len(results) == 0 {
		return "no benchmarks\n"
	}
	rows := []row{{"benchmark", "ns/op", "B/op", "allocs/op", "vs rules=10", "measures"}}
	base := baselines(results)
	pkg := ""
	for _, r := range results {
		if r.pkg != pkg {
			pkg = r.pkg
			rows = append(rows, row{strings.TrimPrefix(pkg, module)})
		}
		rows = append(rows, row{"  " + r.name, r.nsOp, r.bytesOp, r.allocs, ratio(r, base), strings.Join(r.own, ", ")})
	}
	return layout(rows)
}

var ruleCount = regexp.MustCompile(`^(.*)/rules=(\d+)$`)

// family returns what the members of a /rules=N family share, and N.
func family(r result) (key, n string, ok bool) {
	m := ruleCount.FindStringSubmatch(r.name)
	if m == nil {
		return "", "", false
	}
	return r.pkg + " " + m[1], m[2], true
}

// baselines maps each family to the time of its first /rules=10.
func baselines(results []result) map[string]float64 {
	base := map[string]float64{}
	for _, r := range results {
		key, n, ok := family(r)
		if !ok || n != "10" || base[key] != 0 {
			continue
		}
		if ns, err := strconv.ParseFloat(r.nsOp, 64); err == nil {
			base[key] = ns
		}
	}
	return base
}

// ratio is empty where there is nothing to compare with.
func ratio(r result, base map[string]float64) string {
	key, _, ok := family(r)
	if !ok || base[key] == 0 {
		return ""
	}
	ns, err := strconv.ParseFloat(r.nsOp, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.2fx", ns/base[key])
}

// layout aligns the numbers to the right, and the columns beside them to the left.
func layout(rows []row) string {
	var width [6]int
	for _, r := range rows {
		if len(r) == 1 {
			continue
		}
		for i, cell := range r {
			width[i] = max(width[i], len(cell))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := ""
		for i, cell := range r {
			if i == 0 || i == len(width)-1 {
				line += fmt.Sprintf("%-*s  ", width[i], cell)
			} else {
				line += fmt.Sprintf("%*s  ", width[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
