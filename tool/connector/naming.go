package connector

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A command line names its launcher before what it launches: npx, docker, python3. What is
// launched gives a server its name, and, without its version and arguments, says whether two
// command lines launch the same one.

// NameFor returns a name for the server that a command line launches from a folder.
func NameFor(command []string, dir string) string { return launchOf(command, dir).name() }

// SameServer reports whether two command lines that are run in a folder launch the same
// server, perhaps in another version or with other arguments.
func SameServer(a, b []string, dir string) bool {
	return launchOf(a, dir).id() == launchOf(b, dir).id()
}

// A launched is what a command line launches.
type launched struct {
	how  string // what kind of thing it is: a package, a script, an image, a program
	what string // without its version
	dir  string // where it is run, if that matters to what it is
}

func (l launched) id() string { return l.how + "\x00" + l.what + "\x00" + l.dir }

// name makes a name of what rules can write.
func (l launched) name() string {
	name := l.what
	switch l.how {
	case "script", "program":
		name = nameOfPath(l.what)
	case "module":
		name = nameOfPath(strings.ReplaceAll(l.what, ".", "/"))
	default:
		name = path.Base(name)
	}
	if generic[name] && l.dir != "" {
		name = nameOfPath(filepath.Join(l.dir, name))
	}
	dash := true // none at the beginning, and no two
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			dash = false
			return r
		case 'A' <= r && r <= 'Z':
			dash = false
			return r - 'A' + 'a'
		case dash:
			return -1
		}
		dash = true
		return '-'
	}, name)
	if name = strings.TrimSuffix(name[:min(len(name), 64)], "-"); name == "" {
		return "server"
	}
	return name
}

// generic are names of files and folders that say nothing about a server.
var generic = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq("index main server app run start cli mcp stdio mod __main__ dist build src lib " +
		"bin out target release debug scripts esm cjs . .. /") {
		out[name] = true
	}
	return out
}()

// nameOfPath is the name of a file, or of the folder that it is in if that says more.
func nameOfPath(file string) string {
	first := withoutSuffix(path.Base(file))
	name := first
	for generic[strings.ToLower(name)] {
		up := path.Dir(file)
		if up == file || up == "." {
			return first
		}
		file, name = up, path.Base(up)
	}
	return name
}

func withoutSuffix(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".pl", ".php", ".sh", ".bash",
		".exe", ".jar", ".dll", ".cmd", ".bat":
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// launchOf reads a command line.
func launchOf(command []string, dir string) launched {
	if len(command) == 0 {
		return launched{how: "program"}
	}
	program, args := command[0], command[1:]
	base := strings.ToLower(strings.TrimSuffix(filepath.Base(program), ".exe"))
	if strings.HasPrefix(base, "python") || strings.HasPrefix(base, "pypy") {
		base = "python"
	}
	if read := launchers[base]; read != nil {
		if l := read(args, dir); l.what != "" {
			return l
		}
		// What it launches is not understood, so all its arguments are part of what it is.
		return launched{how: "launcher " + strings.Join(args, "\x00"), what: program}
	}
	return inFolder("program", program, dir)
}

// inFolder is a file. One that is named by a path is that of the folder.
func inFolder(how, file, dir string) launched {
	if strings.ContainsAny(file, `/\`) || how == "script" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		file = filepath.ToSlash(filepath.Clean(file))
	}
	return launched{how: how, what: file}
}

// launchers are programs that launch others, and how what they launch is read from their
// arguments. What has no name is not understood.
var launchers readers

func init() { // they call each other
	again := func(takes string) reader {
		return func(args []string, dir string) launched {
			_, rest := flags(args, takes)
			for len(rest) > 0 && strings.Contains(rest[0], "=") { // env NAME=VALUE
				rest = rest[1:]
			}
			return launchOf(rest, dir)
		}
	}
	script := func(takes string) reader {
		return func(args []string, dir string) launched { return firstScript(args, takes, dir) }
	}
	launchers = readers{
		"env": again("-u --unset -C --chdir -S"), "sudo": again("-u -g -h -p -C"),
		"nohup": again(""), "setsid": again(""), "time": again(""),
		"nice": again("-n --adjustment"), "stdbuf": again("-i -o -e"),
		"timeout": func(args []string, dir string) launched {
			_, rest := flags(args, "-k -s --kill-after --signal")
			return launchOf(rest[min(1, len(rest)):], dir)
		},
		"op": afterDashes, "doppler": afterDashes, "infisical": afterDashes, "dotenvx": afterDashes,
		"dotenv": afterDashes, "mise": afterDashes, "aws-vault": afterDashes,
		"poetry": afterRun, "pipenv": afterRun, "rye": afterRun, "pdm": afterRun,

		"npx": npm, "pnpx": npm, "bunx": npm,
		"npm": under(readers{"exec": npm, "x": npm}), "pnpm": under(readers{"dlx": npm, "exec": npm}),
		"yarn": under(readers{"dlx": npm}),
		"bun":  under(readers{"x": npm, "run": script(""), "": script("")}),
		"uvx":  python, "uv": uv, "pipx": under(readers{"run": python}),

		"python": interpreted, "tsx": script("--tsconfig"), "ts-node": script("-P"),
		"node": script("-r --require --import --loader --experimental-loader -C --conditions"),
		"deno": under(readers{"run": script("-c --config --import-map --lock")}),
		"ruby": script("-I -r"), "perl": script("-I"), "php": script("-c -d"),
		"bash": shell, "sh": shell, "zsh": shell, "dash": shell,
		"java": func(args []string, dir string) launched {
			if i := slices.Index(args, "-jar"); i >= 0 && i+1 < len(args) {
				return inFolder("script", args[i+1], dir)
			}
			return launched{}
		},
		"docker": container, "podman": container, "nerdctl": container,
	}
}

// A reader tells what the arguments of a program launch, seen from a folder; readers are by
// the names of programs or subcommands.
type (
	reader  func(args []string, dir string) launched
	readers map[string]reader
)

// flags passes over the flags at the beginning. Takes are those that have a value in the next
// word. It returns the values of all flags, and the rest.
func flags(args []string, takes string) (values map[string]string, rest []string) {
	values = map[string]string{}
	with := strings.Fields(takes)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		flag, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if flag == "--" {
			break
		}
		if !joined && slices.Contains(with, flag) && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		values[flag] = value
	}
	return values, args
}

// under reads what stands behind a subcommand; the one without a name is for all others.
func under(subcommands readers) reader {
	return func(args []string, dir string) launched {
		_, rest := flags(args, "-C --dir --cwd --prefix")
		if len(rest) > 0 && subcommands[rest[0]] != nil {
			return subcommands[rest[0]](rest[1:], dir)
		}
		if read := subcommands[""]; read != nil {
			return read(args, dir)
		}
		return launched{}
	}
}

func afterDashes(args []string, dir string) launched {
	if i := slices.Index(args, "--"); i >= 0 && i+1 < len(args) {
		return launchOf(args[i+1:], dir)
	}
	return launched{}
}

func afterRun(args []string, dir string) launched {
	if i := slices.Index(args, "run"); i >= 0 && i+1 < len(args) {
		return launchOf(args[i+1:], dir)
	}
	return launched{}
}

func npm(args []string, _ string) launched {
	values, rest := flags(args, "-p --package -c --call")
	spec := values["-p"] + values["--package"]
	if spec == "" && len(rest) > 0 {
		spec = rest[0]
	}
	return launched{how: "npm package", what: withoutVersion(spec)}
}

// withoutVersion returns a package without its version: @scope/name@1.2, name==1.2,
// git+https://host/name.git@main#sha.
func withoutVersion(spec string) string {
	spec, _, _ = strings.Cut(spec, "#")
	for _, sep := range []string{"==", ">=", "<=", "~=", "!=", "<", ">", "["} {
		spec, _, _ = strings.Cut(spec, sep)
	}
	if i := strings.LastIndexByte(spec, '@'); i > strings.LastIndexByte(spec, '/') && i > 0 {
		spec = spec[:i]
	}
	return strings.TrimSuffix(spec, ".git")
}

func python(args []string, _ string) launched {
	values, rest := flags(args, "--from --with -w --with-editable --python -p --index --index-url --extra-index-url "+
		"--directory --project --env-file --refresh-package --spec")
	if len(rest) == 0 {
		return launched{}
	}
	l := launched{how: "python package", what: withoutVersion(rest[0])}
	if from := values["--from"] + values["--spec"]; from != "" {
		l.how += " " + withoutVersion(from)
	}
	return l
}

func uv(args []string, dir string) launched {
	values, rest := flags(args, "--directory --project --config-file --cache-dir")
	if len(rest) > 2 && rest[0] == "tool" && rest[1] == "run" {
		return python(rest[2:], dir)
	}
	if len(rest) < 2 || rest[0] != "run" {
		return launched{}
	}
	more, rest := flags(rest[1:], "--with -w --with-editable --with-requirements --python -p --extra --group --package "+
		"--directory --project --env-file --index --index-url")
	for _, folder := range []string{values["--directory"], values["--project"], more["--directory"], more["--project"]} {
		switch {
		case filepath.IsAbs(folder):
			dir = folder
		case folder != "":
			dir = filepath.Join(dir, folder)
		}
	}
	if len(rest) == 0 {
		return launched{}
	}
	if strings.HasSuffix(rest[0], ".py") {
		return inFolder("script", rest[0], dir)
	}
	if l := launchOf(rest, dir); l.how != "program" {
		return l
	}
	return launched{how: "entry", what: rest[0], dir: dir} // a program of the project in the folder
}

func interpreted(args []string, dir string) launched {
	values, rest := flags(args, "-m -c -W -X")
	if module := values["-m"]; module != "" {
		l := launched{how: "module", what: module}
		if generic[l.name()] {
			l.dir = dir // it is the module of this folder
		}
		return l
	}
	if _, code := values["-c"]; code || len(rest) == 0 {
		return launched{}
	}
	return inFolder("script", rest[0], dir)
}

func firstScript(args []string, takes, dir string) launched {
	values, rest := flags(args, takes)
	_, eval := values["-e"]
	if eval || len(rest) == 0 {
		return launched{}
	}
	if kind, spec, ok := strings.Cut(rest[0], ":"); ok && len(kind) > 1 { // npm:NAME, jsr:NAME, https://…
		return launched{how: "package " + kind, what: withoutVersion(spec)}
	}
	return inFolder("script", rest[0], dir)
}

// shell reads a script, or the last command of a text. The text as a whole says what is
// launched: the commands before may change everything.
func shell(args []string, dir string) launched {
	i := slices.IndexFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c")
	})
	if i < 0 {
		return firstScript(args, "-o", dir)
	}
	if i+1 >= len(args) {
		return launched{}
	}
	text := args[i+1]
	parts := strings.FieldsFunc(strings.ReplaceAll(text, ">&", ">"),
		func(r rune) bool { return strings.ContainsRune("&|;\n", r) })
	for _, part := range slices.Backward(parts) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "").Replace(part))
		if len(words) > 1 && words[0] == "exec" {
			words = words[1:]
		}
		if len(words) > 0 {
			return launched{how: "text " + text, what: launchOf(words, dir).name()}
		}
	}
	return launched{}
}

// container reads the image that a container is run from, or the container that a command
// is run in.
func container(args []string, _ string) launched {
	_, rest := flags(args, "-H --host -c --context --config -l --log-level")
	if len(rest) == 0 || rest[0] != "run" && rest[0] != "exec" {
		return launched{}
	}
	how := rest[0]
	for rest = rest[1:]; len(rest) > 0 && strings.HasPrefix(rest[0], "-"); rest = rest[1:] {
		if takesValue(rest[0]) && len(rest) > 1 {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 {
		return launched{}
	}
	image, _, _ := strings.Cut(rest[0], "@") // a digest
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return launched{how: how, what: image}
}

// alone are the flags of docker run that have no value.
var alone = strings.Fields("--rm --init --interactive --tty --detach --privileged --read-only --publish-all " +
	"--no-healthcheck --oom-kill-disable --sig-proxy --disable-content-trust --quiet --help")

// takesValue reports whether the value of a flag of docker run is the next word.
func takesValue(flag string) bool {
	if strings.Contains(flag, "=") {
		return false
	}
	if strings.HasPrefix(flag, "--") {
		return !slices.Contains(alone, flag)
	}
	i := strings.IndexFunc(flag[1:], func(r rune) bool { return !strings.ContainsRune("itdPq", r) })
	return i >= 0 && i == len(flag)-2 // -e, -ie; not -eNAME
}
