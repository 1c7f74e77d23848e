package bridge

import (
	"context"
	"time"

	"github.com/assent-dev/assent/internal/team/machine"
)

// bundleAgain is after which time a bundle is fetched again that could not be used.
const bundleAgain = 10 * time.Second

// noteSerial notes which bundle the server has: a newer one is fetched, and the one that is held is confirmed to
// be the newest.
func (b *Bridge) noteSerial(serial int64) {
	held := b.Team.Serial()
	b.say(func(s *machine.Status) { b.serial, s.Serial = serial, serial })
	switch {
	case serial > held:
		poke(b.wakeBundle)
	case serial == held && held > 0:
		if err := b.Team.Confirm(); err != nil {
			b.Log("the policy of the team cannot be confirmed: " + err.Error())
		}
	}
}

// renew fetches the bundle if the server has a newer one. What is not signed with the team's key, or is older than
// what was held before, is refused, and the one before stays.
func (b *Bridge) renew(ctx context.Context) (time.Duration, error) {
	b.mu.Lock()
	serial := b.serial
	b.mu.Unlock()
	if serial <= b.Team.Serial() {
		return later, nil
	}
	data, err := b.client.Bundle(ctx)
	if b.reached(ctx, err) != nil {
		return 0, err
	}
	if err = b.Team.Take(data); err != nil {
		b.Log("the policy of the team is refused: " + err.Error())
	} else {
		b.Log("the policy of the team was renewed")
	}
	b.say(func(s *machine.Status) {
		s.Bundle = ""
		if err != nil {
			s.Bundle = err.Error()
		}
	})
	return bundleAgain, nil
}
