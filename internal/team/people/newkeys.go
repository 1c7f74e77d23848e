package people

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/present"
)

// A NewKey is a key that somebody has enrolled and that no signed policy has yet. Everybody is told about it, so that the
// key of an attacker is seen before it counts.
type NewKey struct {
	ID         string    `json:"id"`
	Person     string    `json:"person" doc:"the name of whom it would answer for"`
	Mine       bool      `json:"mine" doc:"it would answer for who is signed in"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	Created    time.Time `json:"created"`
	EnrolledBy string    `json:"enrolled_by" doc:"who vouched for it"`
	CountsFrom time.Time `json:"counts_from" doc:"from when it may be signed into the policy"`
	State      string    `json:"state" doc:"the same in words"`
	Revoke     string    `json:"revoke" doc:"the command with which an administrator ends it"`
}

type newKeysOutput struct {
	Body struct {
		Keys []NewKey `json:"keys" nullable:"false"`
	}
}

// newKeys lists those of who is signed in first.
func (s *Server) newKeys(ctx context.Context, _ *struct{}) (*newKeysOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	kept, err := s.cfg.DB.NewCredentials(ctx, b.CredentialIDs())
	if err != nil {
		return nil, s.fail(err)
	}
	out := &newKeysOutput{}
	out.Body.Keys = []NewKey{}
	for _, c := range kept {
		k := NewKey{ID: c.ID, Person: present.SafeLine(c.PersonName), Mine: c.Person == personOf(ctx).ID, Kind: string(c.Kind),
			Name: present.SafeLine(c.Name), Created: c.Created, EnrolledBy: b.name(c.EnrolledBy), CountsFrom: c.CountsFrom,
			State: b.waits(&c.Credential), Revoke: present.SafeLine(c.RevokeCommand())}
		if c.EnrolledBy == c.Person {
			k.EnrolledBy = "another key of " + k.Person
		}
		out.Body.Keys = append(out.Body.Keys, k)
	}
	slices.SortStableFunc(out.Body.Keys, func(a, b NewKey) int { return cmp.Compare(order(a.Mine), order(b.Mine)) })
	return out, nil
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// waits says what a key that is not in the signed policy waits for.
func (b *bench) waits(c *db.Credential) string {
	if b.now.Before(c.CountsFrom) {
		return "waits until " + c.CountsFrom.UTC().Format("2 January 15:04 UTC") + ", then for the next signed policy"
	}
	return "waits for the next signed policy"
}

// A newKeysPage stands above every page.
type newKeysPage struct {
	Mine, Others []NewKey
	Whose        string // the others'
}

func (s *Server) newKeysPage(ctx context.Context, _ *http.Request, _ string) (any, error) {
	out, err := s.newKeys(ctx, nil)
	if err != nil {
		return nil, err
	}
	p := &newKeysPage{}
	var names []string
	for _, k := range out.Body.Keys {
		if k.Mine {
			p.Mine = append(p.Mine, k)
			continue
		}
		p.Others = append(p.Others, k)
		if !slices.Contains(names, k.Person) {
			names = append(names, k.Person)
		}
	}
	p.Whose = strings.Join(names, ", ")
	return p, nil
}
