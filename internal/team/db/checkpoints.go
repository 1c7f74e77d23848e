package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/assent-dev/assent/internal/team/log"
)

// A Checkpoint is a signed root as it was made.
type Checkpoint struct {
	Size    int64
	Note    string
	Created time.Time
}

const selectCheckpoints = `SELECT size, note, created FROM team.checkpoints WHERE tenant = $1`

// NewestCheckpoint returns the largest; [ErrNotFound] if there is none.
func (d *DB) NewestCheckpoint(ctx context.Context) (Checkpoint, error) {
	return one(ctx, d, "checkpoint", pgx.RowToStructByPos[Checkpoint], selectCheckpoints+` ORDER BY size DESC LIMIT 1`, d.tenant)
}

// Checkpoints returns those beyond a size, the oldest first.
func (d *DB) Checkpoints(ctx context.Context, beyond int64, limit int) ([]Checkpoint, error) {
	return all(ctx, d, "checkpoints", pgx.RowToStructByPos[Checkpoint], selectCheckpoints+` AND size > $2 ORDER BY size LIMIT $3`, d.tenant, beyond, limit)
}

// checkpointLimit is how many leaves one checkpoint adds.
const checkpointLimit = 100_000

// MakeCheckpoint puts the ends of all logs that have grown into the tree and signs its root. Without any
// it returns the newest one. Replicas may do it at once: a unique key lets one of them.
func (d *DB) MakeCheckpoint(ctx context.Context, key note.Signer) (Checkpoint, error) {
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return d.growTree(ctx, tx, key) })
	if err != nil && !uniqueViolation(err) {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	return d.NewestCheckpoint(ctx)
}

func (d *DB) growTree(ctx context.Context, tx pgx.Tx, key note.Signer) error {
	var size int64
	var now time.Time
	if err := tx.QueryRow(ctx, `SELECT coalesce(max(n) + 1, 0), now() FROM team.leaves WHERE tenant = $1`, d.tenant).Scan(&size, &now); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT s.tenant, s.gate, s.id, s.seq, s.hash FROM team.streams s WHERE s.tenant = $1 AND s.seq > s.first_seq
		AND NOT EXISTS (SELECT FROM team.leaves l WHERE l.tenant = s.tenant AND l.gate = s.gate AND l.stream = s.id AND l.seq = s.seq)
		ORDER BY s.gate, s.id LIMIT $2`, d.tenant, checkpointLimit)
	if err != nil {
		return err
	}
	leaves, err := pgx.CollectRows(rows, pgx.RowToStructByPos[log.Leaf])
	if err != nil || len(leaves) == 0 {
		return err
	}
	tree := newTree(func(indexes []int64) ([]tlog.Hash, error) { return d.treeHashes(ctx, tx, indexes) })
	first := tlog.StoredHashCount(size)
	var added [][]byte
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashes(size+int64(i), leaf.Data(), tree)
		if err != nil {
			return err
		}
		for _, h := range hashes {
			tree.known[first+int64(len(added))] = h
			added = append(added, h[:])
		}
	}
	grown := size + int64(len(leaves))
	root, err := tlog.TreeHash(grown, tree)
	if err != nil {
		return err
	}
	signed, err := log.Checkpoint{Size: grown, Root: root, Time: now}.Sign(key)
	if err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"team", "leaves"}, []string{"tenant", "n", "gate", "stream", "seq", "hash"},
		pgx.CopyFromSlice(len(leaves), func(i int) ([]any, error) {
			l := leaves[i]
			return []any{d.tenant, size + int64(i), l.Gate, l.Stream, l.Seq, l.Hash}, nil
		})); err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"team", "tree"}, []string{"tenant", "n", "hash"},
		pgx.CopyFromSlice(len(added), func(i int) ([]any, error) { return []any{d.tenant, first + int64(i), added[i]}, nil })); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO team.checkpoints (tenant, size, root, note) VALUES ($1, $2, $3, $4)`, d.tenant, grown, root[:], signed)
	return err
}

// A tree reads stored hashes once.
type tree struct {
	known map[int64]tlog.Hash
	read  func([]int64) ([]tlog.Hash, error)
}

func newTree(read func([]int64) ([]tlog.Hash, error)) *tree {
	return &tree{map[int64]tlog.Hash{}, read}
}

// ReadHashes implements [tlog.HashReader].
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var missing []int64
	for _, i := range indexes {
		if _, ok := t.known[i]; !ok {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		hashes, err := t.read(missing)
		if err != nil {
			return nil, err
		}
		for i, h := range hashes {
			t.known[missing[i]] = h
		}
	}
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		out[i] = t.known[index]
	}
	return out, nil
}

// A querier is a transaction, or the pool.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

// treeHashes reads hashes of the tree, in this order.
func (d *DB) treeHashes(ctx context.Context, q querier, indexes []int64) ([]tlog.Hash, error) {
	rows, err := q.Query(ctx, `SELECT t.hash FROM unnest($2::bigint[]) WITH ORDINALITY AS u (n, place)
		JOIN team.tree t ON t.tenant = $1 AND t.n = u.n ORDER BY u.place`, d.tenant, indexes)
	if err != nil {
		return nil, err
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h tlog.Hash, err error) {
		var hash []byte
		err = row.Scan(&hash)
		if err == nil && copy(h[:], hash) != len(h) {
			err = ErrChanged
		}
		return h, err
	})
	if err == nil && len(out) != len(indexes) {
		err = fmt.Errorf("the tree: %w: hashes are missing", ErrChanged)
	}
	return out, err
}

// proofBytes is how long the records of one proof are together: it is made in memory.
const proofBytes = 32 << 20

// ProveRecord shows that a record is in the newest checkpoint. A record that came after it is
// [ErrNotFound]: wait for the next one.
func (d *DB) ProveRecord(ctx context.Context, gate, stream string, seq int64) (log.Inclusion, error) {
	i, err := d.proveRecord(ctx, gate, stream, seq)
	if err != nil {
		return log.Inclusion{}, fmt.Errorf("record %d of log %s of machine %s: %w", seq, stream, gate, err)
	}
	return i, nil
}

func (d *DB) proveRecord(ctx context.Context, gate, stream string, seq int64) (log.Inclusion, error) {
	i := log.Inclusion{Tenant: d.tenant, Gate: gate, Stream: stream}
	newest, err := d.NewestCheckpoint(ctx)
	if err != nil {
		return i, err
	}
	var head int64
	err = d.pool.QueryRow(ctx, `SELECT n, seq FROM team.leaves WHERE tenant = $1 AND gate = $2 AND stream = $3 AND seq >= $4 AND n < $5
		ORDER BY seq LIMIT 1`, d.tenant, gate, stream, seq, newest.Size).Scan(&i.Index, &head)
	if errors.Is(err, pgx.ErrNoRows) {
		return i, fmt.Errorf("%w in a checkpoint", ErrNotFound)
	}
	if err != nil {
		return i, err
	}
	var bytes int64
	err = d.pool.QueryRow(ctx, `SELECT coalesce(sum(`+recordBytes+`), 0) FROM team.events
		WHERE tenant = $1 AND gate = $2 AND stream = $3 AND seq BETWEEN $4 AND $5`,
		d.tenant, gate, stream, seq, head).Scan(&bytes)
	if err == nil && bytes > proofBytes {
		err = fmt.Errorf("%w: %d MiB follow up to the next checkpoint", ErrLong, bytes>>20)
	}
	if err != nil {
		return i, err
	}
	kept, err := d.Records(ctx, gate, stream, seq-1, int(head-seq+1))
	if err != nil {
		return i, err
	}
	if len(kept) == 0 || kept[0].Seq != seq {
		return i, d.missing(ctx, gate, stream, seq)
	}
	for _, k := range kept {
		i.Records = append(i.Records, k.Record)
	}
	i.Checkpoint = newest.Note
	i.Proof, err = tlog.ProveRecord(newest.Size, i.Index, d.reader(ctx))
	return i, err
}

// missing says why a record that is in the tree is not among the records.
func (d *DB) missing(ctx context.Context, gate, stream string, seq int64) error {
	s, err := d.Stream(ctx, gate, stream)
	switch {
	case err != nil:
		return err
	case seq <= s.Anchor.Seq:
		return ErrPruned
	}
	return fmt.Errorf("%w: the record is gone", ErrChanged)
}

// reader reads the tree outside of a transaction: what is in it never changes.
func (d *DB) reader(ctx context.Context) tlog.HashReader {
	return newTree(func(indexes []int64) ([]tlog.Hash, error) { return d.treeHashes(ctx, d.pool, indexes) })
}

// ProveGrowth shows that the tree of one checkpoint is the beginning of that of another.
func (d *DB) ProveGrowth(ctx context.Context, older, newer int64) (log.Consistency, error) {
	var c log.Consistency
	for size, into := range map[int64]*string{older: &c.Older, newer: &c.Newer} {
		found, err := one(ctx, d, fmt.Sprintf("checkpoint %d", size), pgx.RowToStructByPos[Checkpoint], selectCheckpoints+` AND size = $2`, d.tenant, size)
		if err != nil {
			return c, err
		}
		*into = found.Note
	}
	if older == newer {
		c.Older = c.Newer
	}
	var err error
	c.Proof, err = tlog.ProveTree(newer, older, d.reader(ctx))
	return c, err
}
