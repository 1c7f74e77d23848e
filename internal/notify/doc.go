// Package notify tells a program of the user's own that a request waits for an answer.
//
// [Around] stands around whoever is asked. A request that has not been answered after a
// while starts the program, once. It gets the id, the tool and the summary, and no
// arguments: as ASSENT_REQUEST, ASSENT_TOOL and ASSENT_SUMMARY in its environment, and as
// one JSON object on its standard input:
//
//	{"id": "…", "tool": "write_file", "summary": "Create notes/a.md (4 bytes, 1 line)"}
//
// Nothing waits for the program and nothing it does answers the request. It has no
// terminal, is ended after [Limit], and at most [Most] run at a time; what would be more
// is not told.
package notify
