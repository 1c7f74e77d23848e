package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-webauthn/webauthn/protocol"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/signin"
	"github.com/assent-dev/assent/present"
)

func (s *Server) describeKeys(api huma.API, op func(id, method, path, summary, tag string) huma.Operation) {
	huma.Register(api, op("list-keys", http.MethodGet, "/keys", "List your passkeys", "keys"), s.listKeys)
	huma.Register(api, op("new-keys", http.MethodGet, "/new-keys",
		"List everybody's keys that no signed policy has yet", "keys"), s.newKeys)
	huma.Register(api, op("begin-key", http.MethodPost, "/keys/begin", "Begin to make a passkey", "keys"), s.beginKey)
	huma.Register(api, op("add-key", http.MethodPost, "/keys", "Enrol a passkey: it waits, and counts once it is in a signed policy", "keys"), s.addKey)
	huma.Register(api, op("revoke-key", http.MethodDelete, "/keys/{id}", "Revoke a passkey of yours", "keys"), s.revokeKey)
	huma.Register(api, op("invite", http.MethodPost, "/invitations", "Let another person make a passkey; signed with yours", "keys"), s.invite)
}

// A KeyDetail is a passkey of who is signed in.
type KeyDetail struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Created    time.Time `json:"created"`
	EnrolledBy string    `json:"enrolled_by" doc:"who vouched for it"`
	CountsFrom time.Time `json:"counts_from" doc:"from when it may be signed into the policy"`
	Counts     bool      `json:"counts" doc:"it is in the signed policy"`
	Revoked    bool      `json:"revoked"`
	State      string    `json:"state" doc:"the same in words"`
}

type keysOutput struct {
	Body struct {
		Keys []KeyDetail `json:"keys" nullable:"false"`
	}
}

func (s *Server) listKeys(ctx context.Context, _ *struct{}) (*keysOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	me := personOf(ctx)
	kept, err := s.cfg.DB.Credentials(ctx, me.ID)
	if err != nil {
		return nil, s.fail(err)
	}
	counting, out := b.passkeys(me.ID), &keysOutput{}
	out.Body.Keys = []KeyDetail{}
	for _, c := range kept {
		if c.Kind != approval.StrengthPasskey {
			continue
		}
		in := slices.ContainsFunc(counting, func(k proof.Credential) bool { return k.ID == c.ID })
		k := KeyDetail{ID: c.ID, Name: present.SafeLine(c.Name), Created: c.Created, EnrolledBy: b.name(c.EnrolledBy), CountsFrom: c.CountsFrom,
			Counts: in && c.Revoked.IsZero(), Revoked: !c.Revoked.IsZero()}
		switch {
		case k.Revoked && in:
			k.State = "revoked here; machines accept it until the next policy is published"
		case k.Revoked:
			k.State = "revoked"
		case in:
			k.State = "in force"
		default:
			k.State = b.waits(&c)
		}
		out.Body.Keys = append(out.Body.Keys, k)
	}
	return out, nil
}

type beginOutput struct {
	Body struct {
		Options *protocol.CredentialCreation `json:"options" doc:"for navigator.credentials.create"`
	}
}

func (s *Server) beginKey(ctx context.Context, _ *struct{}) (*beginOutput, error) {
	creation, err := s.cfg.Door.BeginPasskey(ctx, personOf(ctx))
	if err != nil {
		return nil, s.fail(err)
	}
	out := &beginOutput{}
	out.Body.Options = creation
	return out, nil
}

type addKeyInput struct {
	Body struct {
		Name       string          `json:"name" maxLength:"80"`
		Credential json.RawMessage `json:"credential" doc:"what navigator.credentials.create made"`
		Invitation string          `json:"invitation,omitempty" maxLength:"200" doc:"the code of an invitation by somebody else"`
		Proof      *touchProof     `json:"proof,omitempty" doc:"a passkey of yours that counts, which signs the new public key"`
	}
}

// A touchProof is the signature of a passkey under something that is not an answer.
type touchProof struct {
	Credential    string `json:"credential" maxLength:"2000"`
	Statement     string `json:"statement,omitempty" maxLength:"2000"`
	Signature     []byte `json:"signature"`
	Authenticator []byte `json:"authenticator"`
	Client        []byte `json:"client"`
}

func (t *touchProof) proof() *approval.Proof {
	if t == nil {
		return nil
	}
	return &approval.Proof{Credential: t.Credential, Statement: t.Statement, Signature: t.Signature, Authenticator: t.Authenticator, Client: t.Client}
}

type wordsOutput struct {
	Body struct {
		Words string `json:"words"`
		Code  string `json:"code,omitempty" doc:"the code of an invitation"`
	}
}

func (s *Server) addKey(ctx context.Context, in *addKeyInput) (*wordsOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	me := personOf(ctx)
	usable, err := s.usable(ctx, b, me.ID)
	if err != nil {
		return nil, s.fail(err)
	}
	name := strings.TrimSpace(in.Body.Name)
	if name == "" {
		name = "passkey"
	}
	c, err := s.cfg.Door.EndPasskey(ctx, me, signin.Enrolment{Name: name, Credential: in.Body.Credential,
		Invitation: in.Body.Invitation, Proof: in.Body.Proof.proof()}, usable)
	switch {
	case errors.Is(err, signin.ErrEnrol):
		return nil, huma.Error403Forbidden(present.SafeLine(err.Error()))
	case err != nil:
		return nil, s.fail(err)
	}
	out := &wordsOutput{}
	waits := ""
	if wait := s.cfg.Door.Wait(); wait > 0 {
		waits = "waits " + bundle.Duration(wait).String() + ", and then "
	}
	out.Body.Words = "Enrolled: " + present.SafeLine(c.Name) +
		". It " + waits + "takes effect when an administrator next publishes the policy."
	return out, nil
}

func (s *Server) revokeKey(ctx context.Context, in *idInput) (*struct{}, error) {
	c, err := s.cfg.DB.Credential(ctx, in.ID)
	if errors.Is(err, db.ErrNotFound) || err == nil && c.Person != personOf(ctx).ID {
		return nil, huma.Error404NotFound("you have no such passkey")
	}
	if err == nil {
		err = s.cfg.DB.RevokeCredential(ctx, in.ID)
	}
	return nil, s.fail(err)
}

type inviteInput struct {
	Body struct {
		Person string     `json:"person" maxLength:"200" doc:"the id of who may make a passkey"`
		Proof  touchProof `json:"proof" doc:"your passkey's signature over the statement of the invitation"`
	}
}

// An invitation is what somebody signs who invites.
type invitation struct {
	Version int    `json:"version"`
	Tenant  string `json:"tenant"`
	Person  string `json:"person"`
	Expires int64  `json:"expires"`
	Nonce   string `json:"nonce"`
}

// invitePurpose is what a passkey signs for that invites somebody, invitationLife how long the code works.
const (
	invitePurpose  = "assent-invite-v1"
	invitationLife = 24 * time.Hour
)

// invite makes a code for another person. It needs a touch: two stolen cookies are not two people.
func (s *Server) invite(ctx context.Context, in *inviteInput) (*wordsOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	me, p := personOf(ctx), in.Body.Proof.proof()
	usable, err := s.usable(ctx, b, me.ID)
	if err != nil {
		return nil, s.fail(err)
	}
	i := slices.IndexFunc(usable, func(c proof.Credential) bool { return c.ID == p.Credential })
	if i < 0 {
		return nil, huma.Error403Forbidden("only somebody with a passkey in the signed policy can invite")
	}
	if err := proof.Signed(usable[i], invitePurpose, p.Statement, *p); err != nil {
		return nil, huma.Error403Forbidden(err.Error())
	}
	nonce, err := s.invites(p.Statement, in.Body.Person)
	if err != nil {
		return nil, huma.Error403Forbidden(err.Error())
	}
	other, err := s.cfg.DB.Person(ctx, in.Body.Person)
	if errors.Is(err, db.ErrNotFound) || in.Body.Person == me.ID {
		return nil, huma.Error422UnprocessableEntity("invite somebody else, whom an administrator has added")
	}
	if err != nil {
		return nil, s.fail(err)
	}
	code, err := s.cfg.DB.Invite(ctx, other.ID, me.ID, nonce, invitationLife)
	if errors.Is(err, db.ErrExists) {
		return nil, huma.Error403Forbidden("this signature has already made an invitation; invite again")
	}
	if err != nil {
		return nil, s.fail(err)
	}
	out := &wordsOutput{}
	out.Body.Words, out.Body.Code = fmt.Sprintf("The code for %s, which works once and for %s:", present.SafeLine(other.Name), bundle.Duration(invitationLife)), code
	return out, nil
}

// invites returns the nonce of a statement that invites this person now, or why it does not.
func (s *Server) invites(statement, person string) (nonce string, err error) {
	given, err := canonical.Arguments([]byte(statement))
	var said invitation
	if err == nil {
		err = json.Unmarshal(given, &said)
	}
	if err != nil {
		return "", fmt.Errorf("the invitation cannot be read: %w", err)
	}
	left := time.Until(time.Unix(said.Expires, 0))
	switch {
	case said.Version != 1 || said.Tenant != s.cfg.DB.Tenant() || said.Person != person || said.Nonce == "":
		return "", errors.New("what was signed does not invite this person")
	case left <= 0 || left > time.Hour:
		return "", errors.New("what was signed has expired, or is valid for too long")
	}
	return said.Nonce, nil
}

func (s *Server) keysPage(ctx context.Context, r *http.Request, _ string) (any, error) {
	keys, err := s.listKeys(ctx, nil)
	if err != nil {
		return nil, err
	}
	me := personOf(ctx)
	p := &keysPage{Name: present.SafeLine(me.Name), Suggest: suggestName(r.UserAgent())}
	if wait := s.cfg.Door.Wait(); wait > 0 {
		p.Wait = bundle.Duration(wait).String()
	}
	for _, k := range keys.Body.Keys {
		p.Keys = append(p.Keys, keyRow{k.ID, k.Name, k.State, k.Created, k.Revoked})
		p.Counts = p.Counts || k.Counts
	}
	if !p.Counts {
		return p, nil
	}
	all, err := s.cfg.DB.People(ctx)
	for _, other := range all {
		if other.ID != me.ID && other.Disabled.IsZero() {
			other.Name = present.SafeLine(other.Name)
			p.Others = append(p.Others, other)
		}
	}
	return p, s.fail(err)
}

// suggestName is what a passkey could be called.
func suggestName(agent string) string {
	for _, device := range []string{"iPhone", "iPad", "Android", "Windows", "Macintosh", "Linux"} {
		if strings.Contains(agent, device) {
			return device
		}
	}
	return "passkey"
}
