// Package anthropic talks to models over Anthropic's Messages API.
//
// It is a package of its own so that a program which needs no model does not load the
// provider's library when it starts.
package anthropic
