package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A Problem is something wrong at a place in a file.
type Problem struct {
	File   string
	Line   int
	Column int    // 0 if only the line is known
	Text   string // what is wrong, and what to do
}

func (p Problem) String() string {
	if p.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// ProblemAt returns a problem at a FILE:LINE, as a Source of a policy has it.
func ProblemAt(source, format string, args ...any) Problem {
	p := Problem{File: source, Line: 1, Text: fmt.Sprintf(format, args...)}
	if i := strings.LastIndexByte(source, ':'); i >= 0 {
		if line, err := strconv.Atoi(source[i+1:]); err == nil {
			p.File, p.Line = source[:i], line
		}
	}
	return p
}

// Problems are the reasons why a file was refused, in the order of the file.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// A report collects the problems and warnings of one file.
type report struct {
	file     string
	folder   string // what relative paths are relative to; empty if nothing is
	limit    int    // how many bytes the file may have; 0 for what a person writes
	problems Problems
	warnings []Problem
	notes    []Problem
}

func (r *report) problem(n ast.Node, format string, args ...any) {
	r.problems = append(r.problems, r.at(n, format, args...))
}

func (r *report) warn(n ast.Node, format string, args ...any) {
	r.warnings = append(r.warnings, r.at(n, format, args...))
}

func (r *report) note(n ast.Node, format string, args ...any) {
	r.notes = append(r.notes, r.at(n, format, args...))
}

func (r *report) at(n ast.Node, format string, args ...any) Problem {
	p := Problem{File: r.file, Line: 1, Column: 1, Text: fmt.Sprintf(format, args...)}
	if t := n.GetToken(); t != nil { // an empty file has no token
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

// source names a place, for the reasons that people are given later.
func (r *report) source(n ast.Node) string {
	return fmt.Sprintf("%s:%d", r.file, n.GetToken().Position.Line)
}

func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.problems
}
