package bridge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
)

// bundleAgain is after which time a bundle is fetched again that could not be used.
const bundleAgain = 10 * time.Second

// held is what this machine holds of its team, as long as the administrator's file names the same key.
type held struct {
	team   config.Team
	member *member.Member
}

// errNoTrust says why no bundle is taken.
var errNoTrust = errors.New("the administrator's file has no team.trust yet, so the team's policy and answers have no effect")

// member returns what this machine holds, by the key that the administrator's file names now.
func (b *Bridge) member() (*member.Member, config.Team, error) {
	team, err := b.Team()
	if err == nil && team == nil {
		err = errNoTrust
	}
	if err != nil {
		return nil, config.Team{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.team.member == nil || b.team.team != *team {
		b.team = held{*team, member.Load(b.State, *team, b.Clock)}
	}
	return b.team.member, *team, nil
}

// people are those of the bundle that is held.
func (b *Bridge) people() (approval.Directory, error) {
	m, _, err := b.member()
	if err != nil {
		return nil, err
	}
	return m.People()
}

// heard notes which bundle the server has: a newer one is fetched, and the one that is held is confirmed to be the
// newest.
func (b *Bridge) heard(serial int64) {
	b.say(func(s *link.Status) { b.serial, s.Serial = serial, serial })
	m, team, err := b.member()
	if err == nil && serial > 0 && m.Status().Serial == serial {
		err = member.Confirm(b.State, team, serial, b.Clock())
	} else {
		poke(b.wakeBundle)
	}
	if err != nil {
		b.sayBundle(err)
	}
}

// renew fetches the bundle if the server has a newer one. What is not signed with the team's key, or is older than
// what was held before, is refused, and the one before stays.
func (b *Bridge) renew(ctx context.Context) (time.Duration, error) {
	b.mu.Lock()
	serial := b.serial
	b.mu.Unlock()
	if serial == 0 {
		return later, nil // the server has none, or was not heard yet
	}
	m, team, err := b.member()
	if err != nil {
		b.sayBundle(err)
		return bundleAgain, nil
	}
	if m.Status().Serial >= serial {
		b.sayBundle(nil)
		return later, nil
	}
	data, err := b.client.Bundle(ctx)
	if b.reached(ctx, err) != nil {
		return 0, err
	}
	_, err = member.SaveBundle(b.State, team, data)
	b.sayBundle(err)
	if err == nil {
		b.Log("the policy of the team was renewed")
		poke(b.wakeQuestions) // the server may know this machine now
	}
	return bundleAgain, nil
}

// sayBundle says why no bundle, or an older one, is used.
func (b *Bridge) sayBundle(err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	b.say(func(s *link.Status) {
		if s.Bundle != why && why != "" {
			b.Log("the policy of the team: " + why)
		}
		s.Bundle = why
	})
}

// AdminTeam returns what reads the team of the administrator's file, again only when the file has changed.
func AdminTeam(path string) func() (*config.Team, error) {
	var mu sync.Mutex
	var seen os.FileInfo
	var team *config.Team
	return func() (*config.Team, error) {
		mu.Lock()
		defer mu.Unlock()
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			seen, team = nil, nil
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if seen != nil && os.SameFile(seen, now) && seen.ModTime().Equal(now.ModTime()) && seen.Size() == now.Size() {
			return team, nil
		}
		admin, err := config.ReadAdmin(path)
		if err != nil {
			return nil, err
		}
		seen, team = now, nil
		if admin != nil && admin.Policy.Team.Trust != "" {
			team = &admin.Policy.Team
		}
		return team, nil
	}
}
