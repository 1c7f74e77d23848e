package main

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assent-dev/assent/store"
)

// column is the script command `column NAME N REGEXP`: it sets NAME to the field with that
// number, from 1, of the first line on the last standard output that matches.
func column(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: column NAME N REGEXP")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	want, err := regexp.Compile(args[2])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if f := strings.Fields(line); want.MatchString(line) && len(f) >= n {
			ts.Setenv(args[0], f[n-1])
			return
		}
	}
	ts.Fatalf("no line matches %s", args[2])
}

// await is the script command `await STATE N`: it waits until the store has so many grants.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await STATE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	s, err := store.Open(context.Background(), ts.MkAbs(args[0]), store.Options{})
	ts.Check(err)
	defer s.Close()
	ts.Check(awaitGrants(context.Background(), s, n))
}

// tamper is the script command `tamper STATE SQL...`: it changes the store behind its back.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tamper STATE SQL...")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0])+"/"+store.FileName)
	ts.Check(err)
	defer db.Close()
	for _, statement := range args[1:] {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
}
