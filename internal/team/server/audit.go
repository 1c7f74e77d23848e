package server

import (
	"errors"
	"net/http"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
)

// maxRows is how many records come with one call.
const maxRows = 5000

// audit takes records of a machine's log: only if they go on where the last ones ended. What it has taken is on
// disk when it answers. When too much is in hand the machine is told to come again; it keeps its records.
func (s *Server) audit(w http.ResponseWriter, r *http.Request, gate *db.Gate, body []byte) error {
	in, err := readRecords(body)
	if err != nil {
		return refuse(http.StatusBadRequest, "the JSON of the call: %v", err)
	}
	switch {
	case in.Stream == "" || len(in.Stream) > maxName:
		return refuse(http.StatusBadRequest, "the name of a log has 1 to %d bytes", maxName)
	case hasNUL(in.Stream):
		return refuse(http.StatusBadRequest, "the name of a log has a NUL byte")
	case len(in.Rows) > maxRows:
		return refuse(http.StatusRequestEntityTooLarge, "%d records in one call; at most %d are taken", len(in.Rows), maxRows)
	}
	if len(in.Rows) == 0 { // the machine asks how much is here
		return s.head(w, r, gate, in.Stream)
	}
	for _, row := range in.Rows {
		if hasNUL(row.Texts...) { // records of many machines are written together
			return refuse(http.StatusBadRequest, "record %d: a text has a NUL byte", row.Seq)
		}
	}
	kept, err := s.db.Append(r.Context(), gate.ID, in)
	if errors.Is(err, db.ErrGap) || errors.Is(err, db.ErrFork) {
		s.log.Warn("records refused", "gate", gate.ID, "stream", in.Stream, "error", err.Error())
		return refuse(http.StatusConflict, "%v", err)
	}
	if db.Invalid(err) {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	if err != nil {
		return err
	}
	s.metrics.records.Add(int64(len(in.Rows)))
	return send(w, kept)
}

// head answers how much of a log is here.
func (s *Server) head(w http.ResponseWriter, r *http.Request, gate *db.Gate, stream string) error {
	kept := wire.Kept{Stream: stream}
	found, err := s.db.Stream(r.Context(), gate.ID, stream)
	switch {
	case errors.Is(err, db.ErrNotFound):
	case err != nil:
		return err
	default:
		kept.Seq, kept.Hash = found.Head.Seq, found.Head.Hash[:]
	}
	return send(w, kept)
}

func readRecords(body []byte) (in wire.Records, err error) {
	return in, read(body, &in)
}
