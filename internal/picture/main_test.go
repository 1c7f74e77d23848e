package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The picture of the README can be made, shows the race, and is the same twice.
func TestPicture(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assent")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, "../../cmd/assent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	frames, err := record(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	if len(frames) != 2 {
		t.Fatalf("%d frames", len(frames))
	}
	before, after := visibleText(frames[0].rows), visibleText(frames[1].rows)
	if strings.Contains(before, "paused") || !strings.Contains(before, "+replicas: 4") {
		t.Errorf("before:\n%s", before)
	}
	if !strings.Contains(after, "-paused: true") || !strings.Contains(after, "changed since it") {
		t.Errorf("after:\n%s", after)
	}
	picture := drawing(frames)
	again, err := record(t.Context(), program)
	if err != nil || drawing(again) != picture {
		t.Errorf("the second picture is another one: %v", err)
	}
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("it is not XML: %v", err)
		}
	}
}
