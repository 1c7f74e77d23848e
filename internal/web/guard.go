package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/assent-dev/assent/present"
)

// contentPolicy lets the page run our own script, draw with our own style, and talk to us alone. Server
// fragments are put in through one Trusted Types policy, which only common.js may make.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types assent"

// Harden sets what every answer tells the browser: run and draw only what is ours, and talk to us alone.
func Harden(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
	h.Set("Cache-Control", "no-store")
}

// guard is what every request passes, files too.
func (s *Server) guard(next http.Handler) http.Handler {
	// Programs with a token may call localhost, whatever name the pages have.
	hosts := []string{fmt.Sprintf("%s:%d", s.name, s.port), fmt.Sprintf("localhost:%d", s.port)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Harden(w.Header())
		if !slices.Contains(hosts, r.Host) { // another name that leads here would be another origin
			Refuse(w, http.StatusMisdirectedRequest, "this server is "+hosts[0])
			return
		}
		if err := FromElsewhere(r, "http://"+hosts[0]); err != "" {
			Refuse(w, http.StatusForbidden, err)
			return
		}
		if check, ok := r.Context().Value(peerKey{}).(func() error); ok {
			if err := check(); err != nil {
				Refuse(w, http.StatusForbidden, err.Error())
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// FromElsewhere says why a request that another page caused is refused. Programs send neither header; what
// they may do is the matter of keys and tokens.
func FromElsewhere(r *http.Request, own string) string {
	if origin := r.Header.Get("Origin"); origin != "" && origin != own {
		return "a page of another origin may not call this server"
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin":
		return ""
	case "none": // the person opened the address
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return ""
		}
	case "cross-site", "same-site":
		// A link in a notice or another page may open ours; it carries no authority.
		if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
			r.Header.Get("Sec-Fetch-Dest") == "document" && !strings.HasPrefix(r.URL.Path, "/api/") {
			return ""
		}
	}
	return "a page of another origin may not call this server"
}

// A problem is an error as RFC 9457 writes it.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Refuse answers with a problem, whose words may quote what somebody else wrote.
func Refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem{http.StatusText(status), status, present.SafeLine(detail)})
}
