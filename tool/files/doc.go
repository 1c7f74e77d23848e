// Package files gives an agent tools to read, search and change files, each with
// a person's consent where its root asks for it.
//
// [Tools] returns them: read_file, write_file, edit_file, list_files,
// search_files, delete_file, move_file, copy_file, make_dir and file_info. What
// they may reach is a [roots.Set]. Three ideas carry the package.
//
// What is shown is what is there. A call is prepared from the bytes of the file,
// read once; the digest of the same bytes binds the answer. What cannot work, a
// missing file or a text that does not occur, is found out without asking to
// write, but never told before the read itself is consented to.
//
// A change takes effect whole or not at all, and only on what was shown. The new
// file is written beside the old one and the two are exchanged in one step; what
// came out is compared with what was shown, and if it differs it is put back, or
// kept beside and reported by name. The call is then asked again. Nothing that
// nobody has seen is lost. Every step starts from the open root and follows no
// link, so a folder that turns into a link on the way leads nowhere.
//
// What a file is besides its content stays: its mode, its owner and its group. A
// file that would change hands by being replaced is not. A copy has the mode of
// what it copies, and belongs to whoever makes it. A file that another program
// has open for writing is left alone ([ErrBusy]).
//
// A move is one step within a file system. To another one the file is copied and
// then deleted, and the result says so. If a process is killed half way, what it
// left beside a file begins with `.assent-`; a later change in the same folder
// removes it when it is an hour old and its content is one that nobody misses.
//
// What a change replaced is kept in an [Undo] store. The result of the tool names
// the entry, and [Restore] shows and undoes it as long as the file is still what
// the tool left.
//
//	set, err := roots.New(roots.Options{}, roots.Root{Name: "notes", Host: dir, Mode: roots.ModeReadWrite})
//	…
//	gate, err := tool.Guard(approval.Config{Approver: person}, files.Tools(set, files.Options{})...)
//
// The calls of one turn are shown on top of each other: the second edit of a file
// is shown as a change of what the first one would leave, and asked again if that
// does not come about. Lists, searches and infos see the same.
package files
