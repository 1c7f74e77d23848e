package present

// Names of the facts that only a diff has. See [FactOldSize] for the others.
const (
	FactAdded   = "added"   // number: lines that the diff adds
	FactRemoved = "removed" // number: lines that the diff removes
	FactCoarse  = "coarse"  // flag: too large to compare line by line; see [LineDiff]
)

// DiffView returns the view of a change to a file, with the usual context.
func DiffView(old, new Side) View {
	d := diffUnmarked(old, new, DiffContext)
	return d.View(len(old.Text), len(new.Text))
}

// View returns d as a view whose content is its unified text, given the sizes of
// the two texts in bytes. The facts say when d is coarse. Whoever shows the view
// reads the content with [ParseDiff].
func (d LineDiff) View(oldSize, newSize int) View {
	stats := d.Stats()
	facts := Facts{
		NumberFact(FactOldSize, int64(oldSize)),
		NumberFact(FactNewSize, int64(newSize)),
		NumberFact(FactAdded, int64(stats.Added)),
		NumberFact(FactRemoved, int64(stats.Removed)),
	}
	if d.Coarse {
		facts = append(facts, FlagFact(FactCoarse, true))
	}
	return View{Kind: Diff, Content: d.String(), Language: "diff", Facts: facts}
}
