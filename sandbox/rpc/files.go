package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A FileInfo is what is known about a file inside.
type FileInfo struct {
	Name    string      `json:"name"`
	Size    int64       `json:"size"`
	Mode    fs.FileMode `json:"mode"`
	ModTime time.Time   `json:"mod_time"`
}

type fileArgs struct {
	Path string `json:"path"`
	Max  int64  `json:"max,omitempty"`
}

// handleFiles adds the calls for files.
func (s *Server) handleFiles() {
	s.Handle("read", readFile)
	s.Handle("list", listFolder)
	s.Handle("stat", statFile)
}

// ReadFile returns the content of a file, or an error if it has more than max bytes.
func (c *Client) ReadFile(ctx context.Context, path string, max int64) ([]byte, error) {
	return c.Call(ctx, "read", fileArgs{path, max}, nil, nil)
}

// List returns what lies in a folder, by name.
func (c *Client) List(ctx context.Context, path string) ([]FileInfo, error) {
	var out []FileInfo
	_, err := c.Call(ctx, "list", fileArgs{Path: path}, nil, &out)
	return out, err
}

// Stat returns what is known about a file, without following a link at its end.
func (c *Client) Stat(ctx context.Context, path string) (FileInfo, error) {
	var out FileInfo
	_, err := c.Call(ctx, "stat", fileArgs{Path: path}, nil, &out)
	return out, err
}

func readFile(args json.RawMessage, _ []byte) (any, []byte, error) {
	var a fileArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, nil, err
	}
	// A pipe somebody left there must not hold up every later call.
	f, err := os.OpenFile(a.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", a.Path)
	}
	data, err := io.ReadAll(io.LimitReader(f, a.Max+1))
	if err == nil && int64(len(data)) > a.Max {
		err = fmt.Errorf("%s has more than %d bytes", a.Path, a.Max)
	}
	return nil, data, err
}

func listFolder(args json.RawMessage, _ []byte) (any, []byte, error) {
	var a fileArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(a.Path)
	if err != nil {
		return nil, nil, err
	}
	out := make([]FileInfo, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // gone in the meantime
			out = append(out, describe(info))
		}
	}
	return out, nil, nil
}

func statFile(args json.RawMessage, _ []byte) (any, []byte, error) {
	var a fileArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, nil, err
	}
	info, err := os.Lstat(a.Path)
	if err != nil {
		return nil, nil, err
	}
	return describe(info), nil, nil
}

func describe(info fs.FileInfo) FileInfo {
	return FileInfo{Name: info.Name(), Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
}
