package setup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// Origin says for whoever answers elsewhere which agent asks, in which repository and on which
// branch: what git would say, read from its files, because git itself takes longer than a hook may.
// A folder in no repository has no branch.
func Origin(agent, dir string) approval.Origin {
	o := approval.Origin{Agent: agent, Folder: dir}
	for top := dir; ; top = filepath.Dir(top) {
		if head, ok := readHead(filepath.Join(top, ".git")); ok {
			o.Folder, o.Branch = top, head
			return o
		}
		if top == filepath.Dir(top) {
			return o
		}
	}
}

// readHead returns what is checked out: the name of a branch, or the beginning of a commit's. In a
// worktree or submodule .git is a file that names the folder.
func readHead(git string) (head string, ok bool) {
	if named, isFile := bytes.CutPrefix(firstLine(git), []byte("gitdir: ")); isFile {
		if !filepath.IsAbs(string(named)) {
			named = []byte(filepath.Join(filepath.Dir(git), string(named)))
		}
		git = string(named)
	}
	line := string(firstLine(filepath.Join(git, "HEAD")))
	branch, onBranch := strings.CutPrefix(line, "ref: refs/heads/")
	const enough = 8 // of a commit's name
	switch {
	case onBranch:
		return branch, true
	case len(line) > enough:
		return line[:enough], true
	}
	return "", false
}

// firstLine returns the first line of a small file, nothing if there is none to read. A pipe is not
// waited for.
func firstLine(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 4<<10))
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return bytes.TrimRight(line, "\r ")
}
