// Package kept is what stores keep of requests and of events, and what can become of it. It is pure: package
// store brings it into a file, package postgres into a database, and both decide between writers in their
// own way.
package kept
