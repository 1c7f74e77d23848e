package config

import (
	"bytes"
	"path/filepath"
	"strings"
)

const fence = "---"

// splitWorker takes the file of a worker apart. NAME.worker has YAML between two lines of
// ---, and the instructions below; any other is all YAML. The YAML keeps its lines, so that
// problems are found where they are.
func splitWorker(file string, data []byte) (front []byte, body string, err error) {
	if filepath.Ext(file) != workerSuffix {
		return data, "", nil
	}
	wrong := func(line int, text string) error {
		return Problems{{File: file, Line: line, Column: 1, Text: text}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if !isFence(first) {
		return nil, "", wrong(1, "a worker file begins with a line of ---, then YAML, then another ---, then the instructions")
	}
	front = []byte("\n") // for the first line
	for len(rest) > 0 {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		if isFence(line) {
			return front, strings.TrimSpace(string(more)), nil
		}
		front = append(append(front, line...), '\n')
		rest = more
	}
	return nil, "", wrong(bytes.Count(front, []byte("\n")), "the front matter does not end; write a line of --- below it")
}

// JoinWorker puts together what splitWorker takes apart.
func JoinWorker(file string, front []byte, body string) []byte {
	if filepath.Ext(file) != workerSuffix {
		return front
	}
	return []byte(fence + "\n" + string(front) + fence + "\n" + body + "\n")
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == fence }
