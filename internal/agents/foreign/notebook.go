package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A notebook is a change of one cell.
type notebook struct {
	Path   string `json:"path"`
	Cell   string `json:"cell"`
	Kind   string `json:"cell_type"`
	Mode   string `json:"mode"` // replace, insert or delete
	Source string `json:"source"`
}

// apply shows the change in the notebook as it is laid out by most programs.
func (n *notebook) apply(was []byte) ([]byte, error) {
	var book map[string]json.RawMessage
	var cells []map[string]json.RawMessage
	if err := json.Unmarshal(was, &book); err != nil {
		return nil, fmt.Errorf("it is not a notebook: %w", err)
	}
	if err := json.Unmarshal(book["cells"], &cells); err != nil {
		return nil, fmt.Errorf("its cells cannot be read: %w", err)
	}
	at, err := n.find(cells)
	if err != nil {
		return nil, err
	}
	if cells, err = n.change(cells, at); err != nil {
		return nil, err
	}
	if book["cells"], err = json.Marshal(cells); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err = enc.Encode(book)
	return out.Bytes(), err
}

// find returns the index of the cell that is named by its id or by cell-NUMBER; -1 for
// none, which an insertion takes for the top.
func (n *notebook) find(cells []map[string]json.RawMessage) (int, error) {
	if n.Cell == "" && n.Mode == "insert" {
		return -1, nil
	}
	want, err := json.Marshal(n.Cell)
	if err != nil {
		return 0, err
	}
	if i := slices.IndexFunc(cells, func(c map[string]json.RawMessage) bool { return bytes.Equal(c["id"], want) }); i >= 0 {
		return i, nil
	}
	if number, ok := strings.CutPrefix(n.Cell, "cell-"); ok {
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(cells) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("it has no cell %q", n.Cell)
}

func (n *notebook) change(cells []map[string]json.RawMessage, at int) ([]map[string]json.RawMessage, error) {
	source, err := json.Marshal(strings.SplitAfter(n.Source, "\n"))
	if err != nil {
		return nil, err
	}
	switch n.Mode {
	case "delete":
		return slices.Delete(cells, at, at+1), nil
	case "replace":
		cells[at]["source"] = source
		if n.Kind != "" {
			cells[at]["cell_type"], err = json.Marshal(n.Kind)
		}
		return cells, err
	case "insert":
		cell := map[string]json.RawMessage{"source": source, "metadata": json.RawMessage("{}")}
		cell["cell_type"], err = json.Marshal(n.Kind)
		return slices.Insert(cells, at+1, cell), err
	}
	return nil, errors.New("a cell is replaced, inserted or deleted, not " + strconv.Quote(n.Mode))
}
