//go:build webe2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A page is a tab of a real browser that was let in.
type page struct {
	t   *testing.T
	ctx context.Context
	url string
}

// chromium starts a browser with a profile of its own, which talks to nobody but us.
func chromium(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("/usr/bin/chromium"), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.NoFirstRun)
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	return ctx
}

var webLink = regexp.MustCompile(`http://localhost:\d+/#code=\S+`)

// web opens the inbox in a browser.
func (p *project) web(args ...string) *page {
	p.t.Helper()
	x := start(p.t, 100, 40, p.assent(append([]string{"inbox", "--web"}, args...)...))
	x.sees("Open this link")
	link := webLink.FindString(x.screen.String())
	if link == "" {
		p.t.Fatalf("no link in\n%s", x.screen)
	}
	b := &page{p.t, chromium(p.t), strings.SplitN(link, "/#", 2)[0]}
	if err := chromedp.Do(b.ctx); err != nil { // the browser lives as long as the first call's context
		p.t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(link), chromedp.WaitVisible("#list"))
	return b
}

type action = chromedp.Action[chromedp.Void]

func (b *page) do(actions ...action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.shot("failed")
		b.t.Fatal(err)
	}
}

// js evaluates an expression, and waits for it if it is a promise.
func js[T any](b *page, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// sees waits until the page shows the words.
func (b *page) sees(words ...string) {
	b.t.Helper()
	for _, w := range words {
		text, err := json.Marshal(w)
		if err != nil {
			b.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		_, err = chromedp.Run(ctx, chromedp.Poll[bool]("document.body.innerText.includes("+string(text)+")"))
		cancel()
		if err != nil {
			b.shot("missing")
			b.t.Fatalf("the page should say %q (%v):\n%s", w, err, js[string](b, "document.body.innerText"))
		}
	}
}

// shot keeps a picture where ASSENT_SHOTS says.
func (b *page) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("ASSENT_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func TestWeb_AnswersForARun(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	b.sees("Nothing waits")
	r := p.asksInbox()
	b.sees("write_file · Create notes/a.md (4 bytes, 1 line)")
	b.shot("list")
	b.do(chromedp.Click(".items a"), chromedp.WaitVisible("#request"), chromedp.WaitEnabled("[data-answer=approve]"))
	b.shot("request")
	b.sees("What it would do", "write_file(notes/a.md)", "one")
	p.hasNot("notes/a.md")
	b.do(chromedp.KeyEvent("y"))
	r.ends(0, "It is written down.")
	p.has("notes/a.md", "one\n")
}

func TestWeb_Shots(t *testing.T) {
	p := notesProject(t)
	p.put("notes/old.md", "# Today\n\n- invoice due friday!!\n- call plumber\n\nLunch with Ann at noon.\n")
	p.turns([]call{
		write("1", "notes/old.md", "# Today\n\n- invoice is due on Friday\n- call the plumber\n- buy bread\n\nLunch with Ann at noon.\n"),
		write("2", "notes/new.md", strings.Repeat("A line of text that is somewhat long so that it wraps on small screens.\n", 20)),
		{"3", "delete_file", map[string]any{"path": "notes/old.md"}},
	})
	if err := os.Rename(filepath.Join(p.dir, "script.yaml"), filepath.Join(p.dir, "turns.yaml")); err != nil {
		t.Fatal(err)
	}
	p.trust()
	b := p.web()
	p.begin("run", "--ask", "inbox", "notes.worker", "Write.")
	b.sees("delete_file")
	for _, dark := range []bool{false, true} {
		scheme := "light"
		if dark {
			scheme = "dark"
		}
		b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			return err
		}))
		for _, width := range []int64{1280, 320} {
			b.do(chromedp.EmulateViewport(width, 800))
			for _, path := range []string{"/", "/audit", "/rules", "/status", "/explain"} {
				b.do(chromedp.Navigate(b.url+path), chromedp.WaitVisible("article"))
				b.shot(scheme + "-" + fmt.Sprint(width) + "-" + strings.Trim(path, "/"))
			}
			b.do(chromedp.Navigate(b.url+"/"), chromedp.WaitVisible(".items a"), chromedp.Click(".items a"), chromedp.WaitVisible("#request"), chromedp.WaitEnabled("[data-answer=approve]"))
			b.shot(scheme + "-" + fmt.Sprint(width) + "-request")
			b.do(chromedp.KeyEvent("a"), chromedp.WaitVisible("#always"))
			b.sees("settles")
			b.shot(scheme + "-" + fmt.Sprint(width) + "-always")
		}
	}
}
