package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
)

// bundleCache has the newest bundle, once for all machines that fetch it.
type bundleCache struct{ newest atomic.Pointer[published] }

// published is a bundle as it is sent.
type published struct {
	*bundle.Bundle
	note, packed []byte
	etag         string
	machines     map[string]*bundle.Machine // by id
}

// serial is that of the newest bundle; 0 if there is none.
func (c *bundleCache) serial() int64 {
	if p := c.newest.Load(); p != nil {
		return p.Serial
	}
	return 0
}

// refreshBundle reads the newest bundle. Rows that the team's key did not sign are not seen.
func (s *Server) refreshBundle(ctx context.Context) error {
	row, err := s.db.Newest(ctx, bundle.Serials(s.cfg.Tenant, s.cfg.Trust))
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if row.Serial <= s.bundle.serial() { // somebody took rows away; who has a newer one keeps it
		return nil
	}
	b, err := bundle.OpenFor(s.cfg.Tenant, row.Note, s.cfg.Trust)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, err = zip.Write(row.Note)
	if err = errors.Join(err, zip.Close()); err != nil {
		return err
	}
	p := &published{Bundle: b, note: row.Note, packed: packed.Bytes(), etag: strconv.Quote(strconv.FormatInt(b.Serial, 10)),
		machines: map[string]*bundle.Machine{}}
	for i := range b.Machines {
		p.machines[b.Machines[i].ID] = &b.Machines[i]
	}
	s.bundle.newest.Store(p)
	s.log.Info("bundle", "serial", b.Serial, "bytes", len(row.Note))
	s.waiting.wakeAll()
	return nil
}

// court is what the newest bundle says about who is who; nobody is anybody without one.
func (s *Server) court(now time.Time) db.Court {
	p := s.bundle.newest.Load()
	if p == nil {
		p = &published{Bundle: &bundle.Bundle{}}
	}
	return db.Court{People: p.Directory(now), Gate: func(id string) ed25519.PublicKey {
		if m := p.machines[id]; m != nil {
			return m.Public
		}
		return nil
	}}
}

// giveBundle answers with the newest bundle, as it was published.
func (s *Server) giveBundle(w http.ResponseWriter, r *http.Request, _ *db.Gate, _ []byte) error {
	p := s.bundle.newest.Load()
	if p == nil {
		return refuse(http.StatusNotFound, "the team has published no policy yet")
	}
	h := w.Header()
	h.Set("ETag", p.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == p.etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	data := p.note
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = p.packed
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // an error means that the caller has gone
	return nil
}
