// Package openai talks to models over the Chat Completions API: those of OpenAI, and of
// everybody who speaks it, such as Ollama, vLLM, LM Studio and OpenRouter.
//
// Of the two APIs that OpenAI has it uses the older one, because that is what the others
// speak. It is a package of its own so that a program which needs no model does not load
// the provider's library when it starts.
package openai
