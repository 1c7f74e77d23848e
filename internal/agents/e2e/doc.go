// Package e2e tries the hooks with the agents themselves: real programs, installed from npm,
// that are pointed at a model on the loopback interface. The model speaks each agent's own
// wire format and asks for the commands of a script.
//
// Its tests have the build tag e2e and are run by `make e2e`, which installs the agents into
// a cache first. They are no part of `make test`.
package e2e
