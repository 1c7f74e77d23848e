package interp

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// chdir makes a folder the current one. shown is what a complaint calls it.
func (s *shell) chdir(builtin, path, shown string, physical bool) bool {
	full := s.join(path)
	info, err := s.stat(full, false)
	if err != nil && !physical {
		// a/../b may exist although a does not
		if info, err = s.stat(path, false); err == nil {
			physical = true
		}
	}
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err == nil {
		err = s.access(full, unix.X_OK)
	}
	if err == nil && physical {
		full, err = s.realPath(s.abs(path))
	}
	if err != nil {
		s.complain(builtin, "%s: %s", shown, errText(err))
		return false
	}
	old := s.get("PWD")
	s.enter(full)
	s.set("OLDPWD", old)
	s.exportPwd("OLDPWD")
	s.set("PWD", full)
	s.exportPwd("PWD")
	return true
}

// enter makes a folder the current one.
func (s *shell) enter(dir string) {
	if s.dirFile != nil {
		s.dirFile.release()
	}
	s.dir, s.dirFile = dir, openFolder(dir)
}

// exportPwd keeps what the shell itself maintains in the environment.
func (s *shell) exportPwd(name string) {
	if v, _ := s.find(name); v != nil && name == "OLDPWD" {
		v.attrs |= attrExport
	}
}

// realPath resolves every link of an absolute path.
func (s *shell) realPath(path string) (string, error) {
	resolved := ""
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			resolved = filepath.Dir("/" + resolved)
			if resolved == "/" {
				resolved = ""
			}
			continue
		}
		next := resolved + "/" + part
		info, err := s.stat(next, true)
		if err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			resolved = next
			continue
		}
		if links++; links > 40 {
			return "", syscall.ELOOP
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(target, "/") {
			resolved = ""
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if resolved == "" {
		return "/", nil
	}
	return resolved, nil
}

func cdBuiltin(s *shell, args []string) int {
	physical := s.opt.physical
	rest, ok := s.flags(args, "LPe@", func(flag byte, _ string) {
		switch flag {
		case 'L':
			physical = false
		case 'P':
			physical = true
		}
	})
	if !ok {
		return 2
	}
	if len(rest) > 1 {
		s.complain("cd", "too many arguments")
		return 1
	}
	path, print := "", false
	switch {
	case len(rest) == 0:
		if path, ok = s.lookup("HOME").scalar(); !ok {
			s.complain("cd", "HOME not set")
			return 1
		}
		if path == "" {
			return 0
		}
	case rest[0] == "-":
		if path, ok = s.lookup("OLDPWD").scalar(); !ok {
			s.complain("cd", "OLDPWD not set")
			return 1
		}
		print = true
	default:
		path = rest[0]
	}
	if path == "" {
		return 0
	}
	if cdpath := s.get("CDPATH"); cdpath != "" && len(rest) == 1 && path[0] != '/' && path != "." && path != ".." &&
		!strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../") && rest[0] != "-" {
		for dir := range strings.SplitSeq(cdpath, ":") {
			if dir == "" {
				dir = "."
			}
			full := strings.TrimSuffix(dir, "/") + "/" + path
			if s.isDir(full) {
				if !s.chdir("cd", full, path, physical) {
					return 1
				}
				if dir != "." {
					s.out(s.dir + "\n")
				}
				return 0
			}
		}
	}
	if !s.chdir("cd", path, path, physical) {
		return 1
	}
	if print {
		s.out(s.dir + "\n")
	}
	return 0
}

func pwdBuiltin(s *shell, args []string) int {
	physical := s.opt.physical
	_, ok := s.flags(args, "LP", func(flag byte, _ string) { physical = flag == 'P' })
	if !ok {
		return 2
	}
	dir := s.dir
	if physical {
		var err error
		if dir, err = s.realPath(dir); err != nil {
			s.complain("pwd", "error retrieving current directory: %s", errText(err))
			return 1
		}
	}
	return int(truth(!s.out(dir + "\n")))
}

// tilded shortens a path below the home folder.
func (s *shell) tilded(path string) string {
	home := s.get("HOME")
	if home != "" && home != "/" && (path == home || strings.HasPrefix(path, home+"/")) {
		return "~" + path[len(home):]
	}
	return path
}

func dirsBuiltin(s *shell, args []string) int {
	long, lines, numbers, pick := false, false, false, ""
	for _, arg := range args[1:] {
		switch arg {
		case "-c":
			s.dirs = nil
			return 0
		case "-l":
			long = true
		case "-p":
			lines = true
		case "-v":
			lines, numbers = true, true
		default:
			if len(arg) < 2 || arg[0] != '+' && arg[0] != '-' {
				s.complain("dirs", "%s: invalid option", arg)
				return 2
			}
			pick = arg
		}
	}
	stack := s.stack()
	if !long {
		for i, dir := range stack {
			stack[i] = s.tilded(dir)
		}
	}
	if pick != "" {
		i, ok := stackIndex(pick, len(stack))
		if !ok {
			s.complain("dirs", "%s: directory stack index out of range", strings.TrimLeft(pick, "+-"))
			return 1
		}
		s.out(stack[i] + "\n")
		return 0
	}
	for i, dir := range stack {
		switch {
		case numbers:
			s.outf("%2d  %s\n", i, dir)
		case lines:
			s.out(dir + "\n")
		}
	}
	if !lines {
		s.out(strings.Join(stack, " ") + "\n")
	}
	return 0
}

func stackIndex(arg string, n int) (int, bool) {
	i, err := strconv.Atoi(arg[1:])
	if err != nil || i < 0 || i >= n {
		return 0, false
	}
	if arg[0] == '-' {
		i = n - 1 - i
	}
	return i, true
}

func pushdBuiltin(s *shell, args []string) int {
	args = args[1:]
	stay := false
	if len(args) > 0 && args[0] == "-n" {
		stay, args = true, args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) > 1 {
		s.complain("pushd", "too many arguments")
		return 1
	}
	stack := s.stack()
	switch {
	case len(args) == 0:
		if stay {
			return 0
		}
		if len(s.dirs) == 0 {
			s.complain("pushd", "no other directory")
			return 1
		}
		stack[0], stack[1] = stack[1], stack[0]
	case len(args[0]) > 1 && (args[0][0] == '+' || args[0][0] == '-') && args[0][1] >= '0' && args[0][1] <= '9':
		i, ok := stackIndex(args[0], len(stack))
		if !ok {
			s.complain("pushd", "%s: directory stack index out of range", args[0])
			return 1
		}
		stack = append(append([]string{}, stack[i:]...), stack[:i]...)
	default:
		dir := args[0]
		if dir == "-" {
			dir = s.get("OLDPWD")
		}
		if stay {
			s.dirs = append([]string{dir}, s.dirs...)
			return dirsBuiltin(s, []string{"dirs"})
		}
		old := s.dir
		if !s.chdir("pushd", dir, dir, false) {
			return 1
		}
		s.dirs = append([]string{old}, s.dirs...)
		return dirsBuiltin(s, []string{"dirs"})
	}
	if !s.chdir("pushd", stack[0], stack[0], false) {
		return 1
	}
	s.dirs = stack[1:]
	return dirsBuiltin(s, []string{"dirs"})
}

func popdBuiltin(s *shell, args []string) int {
	args = args[1:]
	stay := false
	if len(args) > 0 && args[0] == "-n" {
		stay, args = true, args[1:]
	}
	if len(args) > 0 && (len(args[0]) < 2 || args[0][0] != '+' && args[0][0] != '-') {
		s.complain("popd", "%s: invalid argument", args[0])
		return 2
	}
	if len(s.dirs) == 0 {
		s.complain("popd", "directory stack empty")
		return 1
	}
	i := 0
	if len(args) > 0 {
		var ok bool
		if i, ok = stackIndex(args[0], len(s.dirs)+1); !ok {
			s.complain("popd", "%s: directory stack index out of range", args[0])
			return 1
		}
	}
	switch {
	case i > 0:
		s.dirs = append(append([]string{}, s.dirs[:i-1]...), s.dirs[i:]...)
	case stay:
		s.dirs = s.dirs[1:]
	default:
		if !s.chdir("popd", s.dirs[0], s.dirs[0], false) {
			return 1
		}
		s.dirs = s.dirs[1:]
	}
	return dirsBuiltin(s, []string{"dirs"})
}
