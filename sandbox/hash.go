package sandbox

import (
	"crypto/sha256"
	"encoding/json"
)

// Hash names what the profile allows. Where its entries come from and in which order they
// stand makes no difference.
func (p Profile) Hash() [sha256.Size]byte {
	p = p.Sorted()
	for i := range p.Roots {
		p.Roots[i].Source = ""
	}
	for i := range p.Files {
		p.Files[i].Source = ""
	}
	for _, list := range [][]Entry{p.Protected, p.Masked, p.Sockets} {
		for i := range list {
			list[i].Source = ""
		}
	}
	p.GitSource, p.Network.Source, p.Network.Lines = "", "", nil
	data, err := json.Marshal(p)
	if err != nil {
		panic("sandbox: a profile of plain values has no JSON: " + err.Error())
	}
	return sha256.Sum256(data)
}
