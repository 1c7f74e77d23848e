package signin

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/db"
)

// vouchPurpose is what a passkey signs for that vouches for another: the new public key, in base64.
const vouchPurpose = "assent-enrol-v1"

// enrolTime is how long the browser may take between the two steps of an enrolment.
const enrolTime = 10 * time.Minute

func relyingParty(team, host, origin string) (*webauthn.WebAuthn, error) {
	limit := webauthn.TimeoutConfig{Enforce: true, Timeout: enrolTime, TimeoutUVD: enrolTime}
	return webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "assent · " + team, RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		// Each answer wants somebody who shows who they are, so a key that cannot do that is of no use.
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Registration: limit, Login: limit},
	})
}

// BeginPasskey returns what the browser needs to make a passkey for who is signed in. Nothing is enrolled yet.
func (d *Door) BeginPasskey(ctx context.Context, p db.Person) (*protocol.CredentialCreation, error) {
	have, err := d.cfg.DB.Credentials(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	var known []protocol.CredentialDescriptor
	for _, c := range have {
		if id, err := base64.RawURLEncoding.DecodeString(c.ID); err == nil && c.Revoked.IsZero() {
			known = append(known, protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: id})
		}
	}
	// Gates verify P-256 and nothing else.
	p256 := []protocol.CredentialParameter{{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256}}
	creation, session, err := d.passkeys.BeginRegistration(user{p}, webauthn.WithExclusions(known), webauthn.WithCredentialParameters(p256))
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(session)
	if err != nil {
		return nil, err
	}
	d.sessions.Put(ctx, "enrol", data)
	return creation, nil
}

// An Enrolment is a passkey that a browser has made, with what lets it in: the code of an invitation by somebody else,
// or the word of a passkey that counts already.
type Enrolment struct {
	Name       string
	Credential json.RawMessage
	Invitation string
	Proof      *approval.Proof
}

// ErrEnrol says that a passkey is not taken; match with [errors.Is].
var ErrEnrol = errors.New("the passkey was refused")

// EndPasskey enrols a passkey. It is announced, waits, and counts once it is in a signed bundle. Vouchers are the
// person's passkeys that count by the bundle in force.
func (d *Door) EndPasskey(ctx context.Context, p db.Person, e Enrolment, vouchers []proof.Credential) (db.Credential, error) {
	refuse := func(format string, args ...any) (db.Credential, error) {
		return db.Credential{}, fmt.Errorf("%w: %w", ErrEnrol, fmt.Errorf(format, args...))
	}
	var session webauthn.SessionData
	data, _ := d.sessions.Pop(ctx, "enrol").([]byte) // one try each
	if len(data) == 0 || json.Unmarshal(data, &session) != nil {
		return refuse("begin again")
	}
	made, err := protocol.ParseCredentialCreationResponseBytes(e.Credential)
	if err != nil {
		return refuse("the browser's answer cannot be read")
	}
	credential, err := d.passkeys.CreateCredential(user{p}, session, made)
	if err != nil {
		return refuse("the browser's answer does not fit: %w", err)
	}
	public, err := spki(credential.PublicKey)
	if err != nil {
		return refuse("%w", err)
	}
	c := db.Credential{ID: base64.RawURLEncoding.EncodeToString(credential.ID), Person: p.ID, Kind: approval.StrengthPasskey, Public: public,
		RP: d.host, AAGUID: credential.Authenticator.AAGUID, BackedUp: credential.Flags.BackupState, Name: e.Name, EnrolledBy: p.ID}
	if e.Invitation == "" {
		if err := vouched(public, e.Proof, vouchers); err != nil {
			return refuse("%w", err)
		}
	}
	c, err = d.cfg.DB.Enrol(ctx, c, e.Invitation, d.cfg.Wait)
	switch {
	case errors.Is(err, db.ErrSpent):
		return refuse("the invitation was used, has expired, or is for somebody else; ask for a new one")
	case errors.Is(err, db.ErrExists):
		return refuse("it is enrolled already")
	}
	return c, err
}

// vouched reports why no passkey that counts has signed the new one.
func vouched(public []byte, p *approval.Proof, vouchers []proof.Credential) error {
	if p == nil || len(vouchers) == 0 {
		return errors.New("a first passkey needs an invitation code; ask an administrator for one")
	}
	for _, c := range vouchers {
		if c.ID == p.Credential {
			return proof.Signed(c, vouchPurpose, base64.StdEncoding.EncodeToString(public), *p)
		}
	}
	return errors.New("the passkey that signed it is not one of yours in the signed policy")
}

// spki is a key as gates read it.
func spki(cose []byte) ([]byte, error) {
	key, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return nil, err
	}
	var point *webauthncose.EC2PublicKeyData
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData:
		point = &k
	case *webauthncose.EC2PublicKeyData:
		point = k
	default:
		return nil, errors.New("its key must be ECDSA with P-256; try another device")
	}
	public, err := point.ToECDSA()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	_, err = proof.ParseKey(der)
	return bytes.Clone(der), err
}

// A user is a person as go-webauthn knows one.
type user struct{ db.Person }

func (u user) WebAuthnID() []byte                         { return []byte(u.ID) }
func (u user) WebAuthnName() string                       { return u.Name }
func (u user) WebAuthnDisplayName() string                { return u.Name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return nil }
