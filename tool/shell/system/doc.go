// Package system is this machine as the analysis of a shell command sees it (an
// [analysis.World]): what lies at a path, what is in a folder, where a program is found, what the command's
// environment says, and how git is configured.
//
// A [World] is made for one call and forgotten after it. It remembers what it was
// asked, so that every question of one analysis has one answer, whatever others do
// to the disk meanwhile; it changes nothing and starts nothing. Git's configuration
// is read by this package itself and not by git, because a git that is asked may
// already do what its configuration says.
//
// What cannot be told is never called harmless. A path whose end cannot be known
// before the command runs is a [analysis.Device]; a folder that cannot be listed has
// more than was listed; a configuration that cannot be read is not ok.
package system
