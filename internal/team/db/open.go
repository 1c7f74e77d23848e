package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CountOpen is how many questions of a machine wait for people.
func (d *DB) CountOpen(ctx context.Context, gate string) (n int, err error) {
	err = d.pool.QueryRow(ctx, `SELECT count(*) FROM team.requests WHERE tenant = $1 AND gate = $2 AND state = 'pending'`, d.tenant, gate).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("requests of machine %s: %w", gate, err)
	}
	return n, nil
}

// AgentsOf returns the agents of one machine.
func (d *DB) AgentsOf(ctx context.Context, gate string) ([]Agent, error) {
	return all(ctx, d, "agents", pgx.RowToStructByPos[Agent],
		`SELECT gate, name, sponsor FROM team.agents WHERE tenant = $1 AND gate = $2 ORDER BY name`, d.tenant, gate)
}
