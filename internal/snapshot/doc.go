// Package snapshot keeps what commands change, so that a person can put it back.
//
// A command such as make may write anything in the roots, and what it will write is not
// known before. Copying everything first would be far too slow. So [Roots.Before] looks at
// every file and copies only those that exist nowhere else: a file that git has, unchanged,
// needs no copy; one that was copied before and has not changed since needs none either.
// After the command a second look finds what it wrote, made and deleted; that is a [Record],
// which [Store.Plan] can turn back.
//
// The two looks compare what the kernel says about each file: device, inode, size, and the
// times of the last change, of which no program can set the second one. git is not run for
// that: the index and the ignore files are read here, so that nothing a repository names is
// started. Only to put a file back that git has is `git cat-file` run, with everything turned
// off that could start a program, and what it prints must have the expected hash.
//
// Not kept is what git ignores, what is very large, and .git itself: commands write through
// to those. [Roots.Through] says which they are. Without a repository the folders in
// [builtFolders] count as ignored.
package snapshot
