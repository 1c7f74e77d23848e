package main

import "github.com/assent-dev/assent/internal/config"

// stateFolder returns the folder where assent keeps its state, or the one that was named.
func stateFolder(named string) (string, error) { return config.StateFolder(named) }
