package audit_test

import (
	"fmt"

	"github.com/assent-dev/assent/audit"
)

// A log of three records, of which somebody changed the second one.
func ExampleVerifier() {
	bodies := []string{"ann approved", "bob denied", "ann approved"}
	var chain audit.Chain
	var links []audit.Link
	start := make([]byte, 32)
	for i, body := range bodies {
		prev := start
		if i > 0 {
			prev = links[i-1].Hash
		}
		sum := chain.Hash(prev, nil, nil, []byte(body))
		links = append(links, audit.Link{Seq: int64(i + 1), Prev: prev, Hash: sum[:], Sum: sum})
	}
	head := audit.NewSeal(3, links[2].Hash)
	links[1].Sum = chain.Hash(links[1].Prev, nil, nil, []byte("bob approved"))

	v := audit.NewVerifier(audit.Log{Anchor: audit.NewSeal(0, start), Head: head}, head)
	for _, l := range links {
		if err := v.Next(l); err != nil {
			fmt.Println(err)
		}
	}
	for _, flaw := range v.Finish().Flaws {
		fmt.Println(flaw)
	}
	// Output: record 2: changed: it is not what was recorded
}
