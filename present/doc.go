// Package present holds what a person is shown before consenting to a call.
//
// A tool describes what it would do as a [View]: a text, a diff, a file, a
// command line or structured data, with a few named facts for the header. Whoever
// asks the person (a terminal, a web page, another process) shows the view and
// knows nothing of the tool. Two ideas carry the package.
//
// A view is a plain value. It has no behaviour, no pointer into a tool and no
// open set of kinds, so it can be compared, kept in a store and sent to another
// process. Its JSON form is strict in both directions: what was written is read
// back the same to the byte, and what is unknown, doubled or missing is an error
// instead of something that is quietly not shown.
//
// What is shown is what is there. A view carries content chosen by a model or
// found in a file, and that content may try to look like something else: escape
// sequences that repaint the terminal, characters that reverse the text or take
// no space. [Safe] turns each of them into visible text and drops nothing.
// [View.Cut] shortens a long view and says how much it left out; the whole stays
// with the view it was cut from.
//
// Where a tool runs the same in other words than the model wrote, as a shell does
// with the canonical form of a command, Content is what runs and Original what was
// written; whoever shows the view shows both.
//
// A program that shows a view cuts first and makes safe what is left, so that the
// work is small however long the content is:
//
//	cut := view.Cut(present.DefaultLimit())
//	fmt.Println(cut.View.Safe().Content)
//	if note := cut.Note(); note != "" {
//		fmt.Println(note)
//	}
//
// A change to a file is shown as a line diff. A tool makes the view with
// [DiffView], or with [DiffLines] and [LineDiff.View] if it also wants the counts
// for its summary. The content is unified text that git apply and patch accept;
// whoever shows it gets lines, numbers and the words that differ back with
// [ParseDiff]. Parse before cutting: half a diff is refused.
//
// The package reads no file, no clock and no network.
package present
