// Package redact replaces what looks like a secret in texts and JSON before they are recorded. It
// is pure.
package redact
