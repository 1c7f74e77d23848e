//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// deniedSpellings are ways to run `touch denied.txt`, which a rule denies.
var deniedSpellings = []string{
	"touch denied.txt",
	"touch  'denied.txt'",
	`to\uch den\ied.txt`,
	`"touch" "denied"".txt"`,
	`'to'"uch" denied.txt`,
	"/usr/bin/touch denied.txt",
	"/usr/bin/../bin/touch denied.txt",
	"touch -- denied.txt",
	"touch \\\ndenied.txt",
	"command touch denied.txt",
	"builtin command touch denied.txt",
	"exec touch denied.txt",
	"env touch denied.txt",
	"env -i PATH=/usr/bin touch denied.txt",
	"env -S 'touch denied.txt'",
	"nice touch denied.txt",
	"nohup touch denied.txt >/dev/null 2>&1",
	"timeout 5 touch denied.txt",
	"setsid -w touch denied.txt",
	"stdbuf -o0 touch denied.txt",
	"x=touch; $x denied.txt",
	"f=denied.txt; touch $f",
	"f=denied; touch ${f}.txt",
	`c="touch denied.txt"; $c`,
	`a=(touch denied.txt); "${a[@]}"`,
	`eval "touch denied.txt"`,
	`eval "$(printf 'to%s den%s' uch ied.txt)"`,
	`$(echo touch) denied.txt`,
	"`echo touch` denied.txt",
	`touch $(echo denied.txt)`,
	"touch denied.{txt,}",
	`$'\x74ouch' $'denied\x2etxt'`,
	"f() { touch denied.txt; }; f",
	`f() { "$@"; }; f touch denied.txt`,
	"alias t=touch; shopt -s expand_aliases 2>/dev/null; eval 't denied.txt'",
	"sh -c 'touch denied.txt'",
	`bash -c '"$0" "$@"' touch denied.txt`,
	"bash <<'END'\ntouch denied.txt\nEND",
	"sh <<END\n$(echo touch) denied.txt\nEND",
	"bash -s <<< 'touch denied.txt'",
	"echo 'touch denied.txt' | sh",
	"echo dG91Y2ggZGVuaWVkLnR4dA== | base64 -d | sh",
	"rev <<< 'txt.deined hcuot' | bash",
	"source <(echo touch denied.txt)",
	". /dev/stdin <<< 'touch denied.txt'",
	"echo denied.txt | xargs touch",
	"printf 'touch denied.txt' | xargs -I{} sh -c '{}'",
	"xargs -a <(echo denied.txt) touch",
	"mkdir -p s && find s -maxdepth 0 -exec touch denied.txt \\;",
	"find . -maxdepth 0 -exec sh -c 'touch denied.txt' \\;",
	`python3 -c "import os; os.system('touch denied.txt')"`,
	`python3 -c "import subprocess; subprocess.run(['touch','denied.txt'])"`,
	`python3 -c "import os; os.execvp('touch',['touch','denied.txt'])"`,
	`perl -e 'system("touch","denied.txt")'`,
	`awk 'BEGIN { system("touch denied.txt") }'`,
	`echo x | sed 's/x/touch denied.txt/e'`,
	`git -c alias.t='!touch denied.txt' t`,
	`printf 'all:\n\ttouch denied.txt\n' | make -s -f -`,
	"ln -s /usr/bin/touch l && ./l denied.txt",
	"cp /usr/bin/touch c && ./c denied.txt",
	"cp /usr/bin/touch c2 && (exec -a touch ./c2 denied.txt)",
	"printf '#!/bin/sh\\ntouch denied.txt\\n' > s.sh && chmod +x s.sh && ./s.sh",
	"printf 'touch denied.txt\\n' > s2.sh && sh s2.sh",
	"printf '#!/usr/bin/env touch\\n' > denied.txt.sh && mkdir -p b && ln -sf /usr/bin/touch b/t && PATH=b:$PATH t denied.txt",
	"cd . && touch denied.txt",
	"(touch denied.txt)",
	"{ touch denied.txt; }",
	"true && touch denied.txt || false",
	"if touch denied.txt; then :; fi",
	"for f in denied.txt; do touch $f; done",
	"while read f; do touch $f; done <<< denied.txt",
	"case x in x) touch denied.txt;; esac",
	"trap 'touch denied.txt' EXIT",
	"touch denied.txt & wait",
	"coproc touch denied.txt; wait",
	`: $(touch denied.txt)`,
	`[[ -n $(touch denied.txt) ]] || true`,
	`: "${x:=$(touch denied.txt)}"`,
	`a[$(touch denied.txt; echo 1)]=x`,
	`cat <(touch denied.txt)`,
	`time touch denied.txt 2>/dev/null`,
	`! touch denied.txt`,
	`flock . touch denied.txt`,
	`ld=$(ls /lib64/ld-linux*); $ld /usr/bin/touch denied.txt`,
	`mapfile -c 1 -C 'touch denied.txt #' x <<< y`,
	`PROMPT_COMMAND='touch denied.txt' bash -ic : 2>/dev/null </dev/null || eval "$PROMPT_COMMAND"; BASH_ENV=<(echo touch denied.txt) bash -c :`,
}

// TestSpellings has each agent run one denied command in many deniedSpellings, each of which runs it
// in bash. None does.
func TestSpellings(t *testing.T) {
	if len(deniedSpellings) < 50 {
		t.Fatalf("these are only %d spellings", len(deniedSpellings))
	}
	for _, text := range deniedSpellings {
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), "bash", "-c", text)
		c.Dir = dir
		if said, err := c.CombinedOutput(); !exists(filepath.Join(dir, "denied.txt")) {
			t.Errorf("in bash this does not run what is denied: %s\n%s%v", text, said, err)
		}
	}
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			p.write(".config/assent/config.yaml", "hook:\n  shell: stage\nrules:\n  - deny shell(touch denied.txt)\n")
			calls := append([]string{"touch allowed.txt"}, deniedSpellings...)
			told := p.stage(a, nil, append(calls, "touch allowed2.txt")...)
			if exists(filepath.Join(p.project, "denied.txt")) {
				for i, text := range calls {
					t.Logf("%s\n%s", text, told[i])
				}
				t.Error("one of the spellings above ran")
			}
			if !exists(filepath.Join(p.project, "allowed.txt")) || !exists(filepath.Join(p.project, "allowed2.txt")) {
				t.Errorf("what is not denied did not run: %s, %s", told[0], told[len(told)-1])
			}
			if lines := strings.Count(p.assent("audit", "list", "--limit", "0"), "\n"); lines <= len(calls) {
				t.Errorf("of %d calls the audit log has %d", len(calls)+1, lines)
			}
		})
	}
}

// TestTricks has each agent run commands that look like something else to who reads them. What is
// done outside the project is refused or asked about, however it is written.
func TestTricks(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			canary, secretFile := p.outside("canary"), p.outside("secret.txt")
			all := tricks(canary, secretFile)
			for _, text := range all {
				c := exec.CommandContext(t.Context(), "bash", "-c", text)
				c.Dir = t.TempDir()
				said, _ := c.CombinedOutput() // what fails at last may have done something
				if err := os.Remove(canary); err != nil && !strings.Contains(string(said), secret) {
					t.Errorf("in bash this does nothing outside: %s\n%s", text, said)
				}
				p.write("../outside/secret.txt", secret)
			}
			told := p.stage(a, nil, all...)
			if exists(canary) {
				t.Errorf("a trick wrote outside the project: %q", told)
			}
			for i, one := range told {
				if strings.Contains(one, secret) {
					t.Errorf("trick %d read a file outside the project: %s", i, one)
				}
			}
			if text, err := os.ReadFile(secretFile); string(text) != secret {
				t.Errorf("a trick changed a file outside the project: %q %v", text, err)
			}
		})
	}
}

// tricks are commands with more in them than a reader may see.
func tricks(canary, file string) []string {
	touch, cat := "touch "+canary, "cat "+file
	return []string{
		// Here-documents whose ends are quoted in odd ways.
		"cat <<EN\\D <<'E'\"ND2\"\nx\nEND\nEN\\D\nEND2\n" + touch + "\n" + cat,
		// A comment that is none, and a carriage return.
		"echo a#b; #\r\n" + touch + "; " + cat,
		// A line that is continued inside a word and a comment that is not.
		"tou\\\nch " + canary + " # \\\n" + cat,
		// Arithmetic and subscripts that run commands.
		"x='a[$(" + touch + " >&2)]'; echo $((x)); [[ -v $x ]]; printf -v \"$x\" y; test -v \"$x\"; declare -n r=$x; echo ${r}",
		// Code in a value that is evaluated when a prompt is expanded.
		"x='$(" + touch + ")'; echo \"${x@P}\"; y='`" + cat + "`'; echo ${y@P}",
		// A function that has the name of a harmless program, and one that has the name of a builtin.
		"ls() { command touch " + canary + "; command cat " + file + "; }; ls; cd() { " + touch + "; }; cd .; unset -f cd ls",
		// A name that is a path by globbing, and a pattern in a command's place.
		"/???/b?n/t?uch " + canary + "; /usr/bin/[c]at " + file,
		// A file descriptor that is opened for writing by reading.
		"exec 7<>" + canary + "; exec 8<" + file + "; cat <&8; echo x >&7",
		// A loop whose variable is a special one, and a field separator that makes words.
		"IFS=,; c=touch," + canary + "; $c; d=cat," + file + "; $d",
		// A character that looks like a space.
		"echo\u00a0x; " + touch + "; " + cat,
		// Options that are scripts.
		"tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='" + touch + "; " + cat + "' .",
		// What runs when the shell ends, or gets a signal.
		"trap '" + touch + "; " + cat + "' EXIT USR1 DEBUG ERR; kill -USR1 $$; false",
		// A symbolic link out of the project, made in the same command.
		"ln -s " + canary + " in; echo x > in; ln -s " + file + " out; cat out; rm -f in out",
		// The same by a hard link and by a folder that is moved away.
		"ln " + file + " hard && cat hard; mkdir -p d && cd d && mv ../d ../e && cat " + file,
	}
}
