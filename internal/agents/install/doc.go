// Package install puts assent's hook into the settings of other agents and takes it out again, and
// proves that an agent asks: it starts the hook as the agent would and reads what the agent reads.
//
// It writes settings of agents and the user's config.yaml, each after the change was shown, and
// nothing else. What the settings files look like is the subject of package settings.
package install
