package programs

import (
	"slices"
	"testing"
)

// Everyday scripts are read as harmless; what this or that sed or awk could take for more is
// not, whatever it looks like to us.
func TestScriptShapes(t *testing.T) {
	for program, scripts := range map[string]struct{ harmless, code []string }{
		"sed": {
			harmless: []string{
				"s/a/b/", "s/a/b/g", "s|/usr|/opt|g", "s#a#b#2p", "s/[^0-9]//g", "s/[[:space:]]*$//", "s/[]x]//", "s/[^]]*//", `s/\(a\),\([A-C]\)/\2:\1/`, `s/\/usr\/bin/x/`,
				"1,5p", "$!d", "/a/,/b/p", "0,/x/d", "2~3p", "/x/,+2p", "/a/I!d", `\|/usr|p`, "$=", "5q", "/x/{s/a/b/;p}", "/x/{p;d};n", `:a;N;$!ba;s/\n/,/g`, "$!{N;ba}", "tx;:x",
				"1i # header", "$a the end", "/x/a\\\nmore", `/x/c\text`, "y/abc/xyz/", "# a comment\np", "s/é/e/g", "1!G;h;$!d", `s/.*/\L&/`, `s/"//g`, "l", "s/a/b/;s/c/d/ ; t ; s/x/y/",
			},
			code: []string{
				"b#;y/\ne M\n/x/", "ba#;s/a/b/", ":a#\ne M", "ta}e M", "s/[[===]]/=]]/;y/e\np;#/p/;p", "s/[[.a.]]/b/", "s/[[=a=]]/b/", "s/[/]/x/", `s/[\]/x/`, "s/[^/]/x/", "s/a/b/e", "s/a/b/ge", "e", "1e",
				"s/a/b/w", "s/a\nb/c/", "s/a/b\\\nc/", "y/a\nb/cd/", "p # x", `a\`, `a x\`, "i\\\nx\\\ne M", "r a;b", "w a b", "W $x", "e $(id)", "sxaxbx", "s\na\nb\n", `s\a\b\`, `s/\cx/y/`, `s/a/\o57/`,
				"v", "v 4.2", "L", "}p", "s/a/b/x", "s/a/b/;k", "/a/e", "p\r", "s|é|b|", "1,p", "!!p",
			},
		},
		"awk": {
			harmless: []string{
				"{print $1}", "NR>1", "$3 > 100 {print $1}", "{print ($1 > 5)}", "/a|b/", "/a/ {n++} END {print n/2}", `{print $1 "|" $2}`, "{if ($1 > 5) print}", "!seen[$0]++", `{gsub(/x/, "y"); print}`, "NR==FNR {a[$1]; next} $1 in a",
				"{c[$1]++} END {for (k in c) print k, c[k]}", `NR>1 {printf "%s %.2f\n", $1, $2/100}`, `BEGIN {OFS=";"} {$1=$1; print}`, "/func /,/^}/", `{print "system"}`, "$1 ~ /[a-z]+/ && $2 !~ /x/", "function f(x) { return x * 2 } { print f($1) }",
				"{print toupper(substr($0, 1, 3))}", "BEGIN { while (i++ < 3) print i }", `{print > "/dev/stderr"}`, "{print ($1+$2)/2}", "{print n++ / 2}", "# counts lines\nEND {print NR}",
			},
			code: []string{
				`2*x/= #/ system("M")`, `x /= 2; system("M")`, `{ print 1 /2/ > "out" }`, `if (x) /"/; system("M") #"/`, "{print $1,\n$2 > \"out\"}", `{print | "M"}`, `{print |& "M"}`, `"M" | getline`, `{ "M" | getline x }`, `system("M" $1)`,
				`{print > $2}`, `{print >> "out"}`, `{printf("%s", $1) > "out"}`, `@load "x"`, `@include "x"`, `{f = "system"; @f("M")}`, `BEGIN{ARGV[1]="x"; ARGC=2}`, `{SYMTAB["x"]}`, `{PROCINFO["x"]}`, `BEGIN{extension("x", "y")}`,
				`{getline x < $1}`, `{while ((getline x < ("/etc/" "shadow")) > 0) print x}`, "{sys\\\ntem(\"M\")}", `/[/]/ {system("M")} #/`, `{print /a/ > "out"}`, `BEGIN{print ENVIRON["X"]}`, `{for (k in ENVIRON) print k}`, "{print}\r",
			},
		},
	} {
		for _, script := range scripts.harmless {
			if ok, _ := free([]string{program, script, "in"}); !ok {
				t.Errorf("%s %q is not read as harmless: %s", program, script, describe(Interpret(program, []Word{Literal(script), Literal("in")})))
			}
		}
		for _, script := range scripts.code {
			if ok, _ := free([]string{program, script, "in"}); ok {
				t.Errorf("%s %q is read as harmless", program, script)
			}
		}
	}
}

// free reports whether a command line does nothing but read the file in and print, and whether
// a script names the file.
func free(argv []string) (free, named bool) {
	var args []Word
	for _, text := range argv[1:] {
		args = append(args, Literal(text))
	}
	r := Interpret(argv[0], args)
	free = r.Known && r.Complete && r.Opaque == "" && len(r.Runs) == 0 && len(r.Scripts) == 0 && len(r.Shows) == 0 &&
		!slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Kind != Read || e.What.Text != "in" })
	return free, slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Arg < 0 })
}
