// Package signin lets people of a team sign in with OpenID Connect, keeps their sessions, and enrols their passkeys.
//
// A session can read and deny. It cannot approve: a passkey signs each approval, and the gate that asked checks it. So
// nobody can approve with a stolen cookie.
//
// A person is identified by issuer and subject alone, and only an administrator can add one. A new passkey has no effect
// at first: everybody is told about it, some time passes, and then the team's key signs it into the next bundle.
package signin
