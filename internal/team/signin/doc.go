// Package signin lets people of a team in: they sign in at an issuer with OpenID Connect, have a session with
// the server from then on, and enrol passkeys.
//
// A session can read and deny. It never approves: a yes is signed with a passkey, and counts at the gate that
// asked. So a stolen cookie is a nuisance and no authority.
//
// A person is who the issuer says they are, by issuer and subject alone, and only if an administrator added
// them. A passkey that is enrolled here counts nowhere yet: everybody is told, some time passes, and somebody
// with the team's key signs it into the next bundle.
package signin
