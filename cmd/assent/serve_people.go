package main

import (
	"net/http"

	"github.com/assent-dev/assent/internal/team/people"
	teamserver "github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/internal/team/signin"
)

// teamPages are the pages and the API of people. Without a sign-in service nobody can come in, and there are none.
func teamPages(cfg *teamserver.Config) func(teamserver.Base) (http.Handler, error) {
	if cfg.OIDC.Issuer == "" {
		return nil
	}
	return func(b teamserver.Base) (http.Handler, error) {
		secret := ""
		if file := cfg.OIDC.ClientSecretFile; file != "" {
			var err error
			if secret, err = teamserver.Secret(file); err != nil {
				return nil, err
			}
		}
		wait := cfg.PasskeyWait
		if wait == 0 {
			wait = -1 // zero would be signin's own default
		}
		door, err := signin.New(signin.Config{URL: cfg.URL, Team: cfg.Team, Issuer: cfg.OIDC.Issuer, ClientID: cfg.OIDC.ClientID,
			ClientSecret: secret, DB: b.DB, Wait: wait, Log: b.Log})
		if err != nil {
			return nil, err
		}
		return people.New(people.Config{DB: b.DB, Team: cfg.Team, URL: cfg.URL, Trust: cfg.Trust, Door: door, Log: b.Log, Stopping: b.Stopping})
	}
}
