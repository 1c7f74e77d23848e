package staged

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the command is: as a comment it does nothing, in every shell that an agent may use.
func TestTheCommentDoesNothing(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "it's a program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$1 $#\" >> \"$0.log\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	pieces := []string{
		"touch PWN", "\n", "\r", "\\", "'", `"`, "$(touch PWN)", "`touch PWN`", "<(touch PWN)", ";", "&", "|", "#", "\x00", "\x1b[2J", "\u2028", "\x85",
		"!", "*", "{a,b}", "E", "<<E", "\\\n", "é", "\xff", ")", "}", "fi", "done", "${x:=$(touch PWN)}", "a ",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		var command strings.Builder
		for range 1 + random.IntN(8) {
			command.WriteString(pieces[random.IntN(len(pieces))])
		}
		for _, moves := range []bool{false, true} {
			text := Text([]string{program}, "", "00-aa", command.String(), moves)
			if strings.ContainsAny(text, "\n\r\x00") {
				t.Fatalf("%q has more than a line", text)
			}
			for _, shell := range [][]string{{"bash", "-c"}, {"sh", "-c"}, {"bash", "-c", `eval "$0"`}} {
				c := exec.Command(shell[0], append(shell[1:], text)...)
				c.Dir = dir
				_ = c.Run() // what it did is looked at
				if _, err := os.Stat(filepath.Join(dir, "PWN")); err == nil {
					t.Fatalf("%q ran in %v: %q", command.String(), shell, text)
				}
			}
		}
	}
	log, err := os.ReadFile(program + ".log")
	if want := 150 * 3 * 3; err != nil || strings.Count(string(log), "\n") != want || strings.Count(string(log), " 2\n") != want {
		t.Errorf("the program was not called %d times with a word and a token: %v\n%.200s", want, err, log)
	}
}

func TestMessagesThatMakeNoSense(t *testing.T) {
	for _, text := range []string{"", "\x00", "\xff\xff\xff\xff", "\x00\x00\x00\x05{", "\x00\x00\x00\x01x", "\x00\x00\x00\x02[]"} {
		if m, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
}

func FuzzRead(f *testing.F) {
	data, err := encode(Message{Version: Version, Run: "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := encode(m); err != nil {
			t.Error(err)
		}
	})
}
