// Package member reads and writes the files of a machine that has joined a team, in the folder team of the state folder:
//
//	machine.json   the machine: tenant, gate, server and its private key
//	bundle         the newest signed policy; the file's time is when the server last confirmed it
//	seen           the highest serial that the machine has accepted, and the digest of that bundle
//
// The administrator's file names the key that signs the policy. Nothing in this folder allows anything by itself: a
// file that is missing, too old, rolled back or changed makes a gate stricter.
package member
