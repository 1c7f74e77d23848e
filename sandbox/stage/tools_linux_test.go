package stage

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFirst(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.Host) }))
	defer srv.Close()
	at := strings.TrimPrefix(srv.URL, "http://")
	s := newScene(t, map[string]string{"good.example:80": at, "9.8.7.6:8080": at, "[2001:db8::1]:81": at})
	t.Log(s.run("cat /etc/resolv.conf /etc/hosts; cat /proc/self/status | grep Cap; curl -sS http://good.example/"))
	t.Log(s.run("curl -sS http://9.8.7.6:8080/"))
	t.Log(s.run("curl -gsS 'http://[2001:db8::1]:81/'"))
	t.Log(s.run("curl -sS http://bad.example/"))
	a, e := s.take()
	t.Log(a, e)
	if err := Available(helper()); err != nil {
		t.Error(err)
	}
}
