package wire

import (
	"bytes"
	"encoding/json"
)

// Encode writes JSON that keeps arguments byte for byte: their digest was signed, and [json.Marshal] would spell <, >,
// & and some line ends otherwise.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
