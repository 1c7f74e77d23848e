package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// sayYes asks a question at a terminal until the answer is y or n. The end of input is no,
// an empty line is no answer, and what was typed before the question does not count.
func sayYes(ctx context.Context, out io.Writer, in *os.File, question string) (bool, error) {
	if err := forgetTyped(in); err != nil {
		return false, err
	}
	lines := bufio.NewReader(in)
	for {
		fmt.Fprint(out, question)
		line, err := readUntil(ctx, lines)
		if errors.Is(err, io.EOF) { // also behind a word: nobody pressed enter
			fmt.Fprintln(out)
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// readUntil reads a line, or ends with ctx.
func readUntil(ctx context.Context, in *bufio.Reader) (line string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		line, err = in.ReadString('\n')
	}()
	select {
	case <-done:
		return line, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// forgetTyped drops the lines that wait at a terminal already.
func forgetTyped(in *os.File) error {
	fd := int(in.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		return err
	}
	buffer := make([]byte, 4096)
	for {
		if n, err := syscall.Read(fd, buffer); n <= 0 || err != nil {
			return syscall.SetNonblock(fd, false)
		}
	}
}
