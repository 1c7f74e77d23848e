// Package member is what a machine holds that has joined a team, in the folder team of the state folder:
//
//	machine.json   who it is: tenant, gate, server and its private key
//	bundle         the newest signed policy; the file's time is when the server last said that it is
//	seen           the highest serial that was ever taken, and the digest of that bundle
//
// The administrator's file says which key signs the policy. Nothing in this folder widens anything by itself:
// what is missing, too old, rolled back or changed makes a gate stricter.
package member
