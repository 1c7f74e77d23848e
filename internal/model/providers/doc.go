// Package providers opens a model by its name: anthropic:MODEL, openai:MODEL or
// script:FILE.
//
// It links the providers' libraries, so only programs that run agents import it.
//
// A key comes from the environment or from the system's keyring, in this order, and goes
// nowhere but to the provider.
package providers
