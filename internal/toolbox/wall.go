package toolbox

import (
	"bufio"
	"debug/elf"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/wall"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// wall is what the command was judged to do, with the files of its programs.
func (m *machine) wall(c shell.Command) sandbox.Wall {
	w := c.Wall.Wall
	if !c.Wall.Known {
		return w
	}
	list := &programList{world: m.world(c.Dir), chains: &m.chains, files: map[string]string{}}
	for _, start := range c.Wall.Runs {
		list.start(start)
	}
	if c.HardenGit { // what stands before git is a script
		list.files[filepath.Join(m.folder, "shim")] = "git"
		list.name("bash", true)
		list.name("env", true)
	}
	if !list.open {
		w.Programs = append([]string{}, slices.Sorted(maps.Keys(list.files))...) // not nil: then any may run
		w.Shared = list.shared
	}
	return w
}

// behind is the profile for a command behind its wall, as far as this machine can hold it:
// mounts anywhere, each program only where the kernel has Landlock and private folders are.
func (m *machine) behind(p sandbox.Profile, w sandbox.Wall) sandbox.Profile {
	if m.without.Wall {
		return p
	}
	p = p.Narrow(w)
	if _, ok := wall.Version(); !ok || m.hold.Runner == nil || m.hold.Runner.Name() != bwrap.Name {
		p.Wall = sandbox.Wall{Why: w.Why}
	}
	return p
}

// A programList is the files that a command's programs need to be executed.
type programList struct {
	world  analysis.World
	chains *sync.Map         // what was found out about files, as chain
	files  map[string]string // and which name led to it
	shared string
	open   bool // something may start that is not known
}

// start adds a program and what it starts by itself.
func (l *programList) start(s shell.Start) {
	file := l.name(s.Name, false)
	for _, other := range s.Starts {
		if strings.HasPrefix(other, "../") {
			if dir := filepath.Join(filepath.Dir(file), other); file != "" && isFolder(dir) {
				l.files[dir] = s.Name
			}
			continue
		}
		l.name(other, false)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// maxChain is how many interpreters may follow from one another, as in the kernel.
const maxChain = 5

// name adds a program by its name or path, with its interpreters, and returns its file.
func (l *programList) name(name string, interpreter bool) string {
	path := name
	if !filepath.IsAbs(name) {
		path = l.world.Program(name)
	}
	real, err := filepath.EvalSymlinks(path)
	if path == "" || err != nil {
		return "" // it cannot be started anyway
	}
	if other, known := l.files[real]; known && other != name && !interpreter {
		l.shared = real
	}
	l.add(real, name, maxChain)
	return real
}

// add adds a file with what the kernel or its interpreter starts for it.
func (l *programList) add(file, name string, depth int) {
	if _, known := l.files[file]; known {
		return
	}
	l.files[file] = name
	c := l.chain(file)
	if c.loader != "" {
		l.files[c.loader] = name
	}
	if c.program {
		return
	}
	starts, known := programs.ScriptStarts(filepath.Base(name))
	if !known || len(c.words) == 0 || depth == 0 {
		l.open = true
		return
	}
	l.name(c.words[0], true)
	if filepath.Base(c.words[0]) == "env" && len(c.words) > 1 {
		l.name(c.words[1], true)
	}
	for _, other := range starts {
		l.name(other, true)
	}
}

// A chain is what the kernel needs to start a file.
type chain struct {
	info    os.FileInfo // of the file when it was looked at
	program bool        // and not a script
	loader  string      // the dynamic loader of a program; empty for none
	words   []string    // the first line of a script
}

// chain looks at a file, once for as long as it stays as it is.
func (l *programList) chain(file string) chain {
	info, err := os.Stat(file)
	if err != nil {
		return chain{}
	}
	if known, ok := l.chains.Load(file); ok {
		if c := known.(chain); os.SameFile(c.info, info) && c.info.ModTime().Equal(info.ModTime()) &&
			c.info.Size() == info.Size() {
			return c
		}
	}
	f, err := os.Open(file)
	if err != nil {
		return chain{}
	}
	defer f.Close()
	c := chain{info: info}
	if loader, err := interpreterOf(f); err == nil {
		c.program = true
		if loader != "" {
			c.loader, _ = filepath.EvalSymlinks(loader)
		}
	} else {
		c.words = shebang(f)
	}
	l.chains.Store(file, c)
	return c
}

// interpreterOf returns the dynamic loader of a program; empty if it needs none. It fails if
// the file is a script.
func interpreterOf(f *os.File) (string, error) {
	program, err := elf.NewFile(f)
	if err != nil {
		return "", err
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			data, err := io.ReadAll(p.Open())
			return strings.TrimRight(string(data), "\x00"), err
		}
	}
	return "", nil
}

// shebang returns the words of a script's first line.
func shebang(f *os.File) []string {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(rest)
}

// Describe implements [shell.Sandbox].
func (m *machine) Describe(c shell.Command) []string {
	p := m.profile(c)
	w := p.Wall
	var lines []string
	writable := func(r sandbox.Root) bool { return r.Mode == sandbox.ModeReadWrite && r.Guarded }
	switch {
	case w.Why != "":
		lines = append(lines, "the whole profile of the policy, which 'assent sandbox show' prints: "+w.Why)
	case !slices.ContainsFunc(p.Roots, writable):
		lines = append(lines, "it writes nothing: the folders are read-only for it")
	case w.Writes:
		lines = append(lines, written(w)...)
	default:
		lines = append(lines, "it may write wherever the policy lets commands write")
	}
	if c.GitWrites && p.GitWrite {
		lines = append(lines, "git may write to the repository, but not its hooks, config, info and modules")
	}
	if w.Programs == nil {
		return lines
	}
	if names := c.Wall.Names(); len(names) > 0 {
		started := strings.Join(names, ", ") + " and what these start by themselves"
		lines = append(lines, "it may start "+started+"; no other program")
	} else {
		lines = append(lines, "it may start no program")
	}
	if w.Shared != "" {
		lines = append(lines, w.Shared+" is several programs in one file: the list of programs says little here")
	}
	return lines
}

// written says which files a command may write.
func written(w sandbox.Wall) []string {
	var lines []string
	files, folders := slices.Clone(w.Files), slices.Clone(w.Folders)
	for _, file := range w.Changed {
		if _, err := os.Lstat(file); err == nil {
			files = append(files, file)
		} else {
			folders = append(folders, filepath.Dir(file))
		}
	}
	for i, dir := range folders { // one that is not there has to be made
		for !isFolder(dir) && dir != "/" {
			dir = filepath.Dir(dir)
		}
		folders[i] = dir
	}
	if len(files) > 0 {
		lines = append(lines, "it may write "+strings.Join(files, ", "))
	}
	slices.Sort(folders)
	if folders = slices.Compact(folders); len(folders) > 0 {
		lines = append(lines, "it may make, change and remove files in "+strings.Join(folders, ", ")+
			" and below: the kernel cannot hold a program that makes or removes files to less than a folder")
	}
	return lines
}
