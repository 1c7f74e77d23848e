// Package roots says which files an agent's tools may reach, under which names,
// and what consent each of them takes.
//
// A [Root] gives a folder of the host, or a single file, a name. Tools and rules
// see `notes/a.md`; where notes lies on the host is nobody's business but the
// operator's, and no error shows it. A root named `.` holds the names that begin
// with no other root's name. Two ideas carry the package.
//
// A name is judged twice: as it was written, and as what it turns out to be when
// symbolic links are followed. The stricter word holds. A link that leads out of
// its root leads nowhere: it is refused. Where roots lie inside each other, the
// innermost decides, by whatever name a file is reached, so a read-only folder
// inside a writable one stays read-only. A folder may have several names: each file
// in it then has all of them, rules about any of them are about it, and where the
// roots differ the strictest holds.
//
// Capability is not consent. The mode of a root (ro or rw), its suffixes and its
// size limit say what can happen at all; what they exclude is blocked and nobody
// is asked. Its approval says what happens without asking. Some files are held
// apart from both: secrets ask even where reads are free, and `.git`, `.assent`
// and assent's own folders are never written.
//
//	set, err := roots.New(roots.Options{},
//		roots.Root{Name: "notes", Host: "/home/u/notes", Mode: roots.ModeReadWrite},
//		roots.Root{Name: "docs", Host: "/usr/share/doc"},
//	)
//	…
//	place, err := set.Resolve("notes/a.md")
//	act := place.Act(roots.AccessWrite) // write_file(notes/a.md), ask
//
// Commands name files by the paths of the host. [Set.ResolveHost] finds the place
// of such a path, in a root or outside; what lies outside asks, and is answered
// by its own name only.
//
// A file has a say too: one with further names (hard links), and one whose mode
// forbids writing, asks before it is changed or deleted even where that is free.
//
// Resolving looks at the disk and changes nothing. What it finds may be another
// thing a moment later; whoever opens the file does so from [Place.Handle] and
// follows no link on the way. A root is the folder that it was when the set was
// opened: one that was moved away or replaced since is refused.
package roots
