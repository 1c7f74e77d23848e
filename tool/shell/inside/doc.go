// Package inside is the shell that runs a judged command: a small program that lives in the
// command's sandbox, interprets the tree, and asks the gate outside before each program that
// it starts and each file that it opens.
//
// It decides nothing. What it asks about is what it then uses: a program or file is opened
// first, in a way that neither reads nor changes it, and the gate is told what it is without
// links; after a yes that very file is used, whatever its name means by then. A new file is
// made, and an old one emptied, only after the yes.
//
// Programs that it starts can bring nothing to bear on it: it cannot be traced and its
// descriptors cannot be taken (it is not dumpable), they inherit none of them, and if it is
// killed or stopped, nothing more starts.
package inside
