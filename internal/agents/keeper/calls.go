package keeper

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents/staged"
)

// How long a token counts. A person may take a while at the agent's own prompt.
const (
	tokenTime  = 5 * time.Minute
	promptTime = 30 * time.Minute
)

// A call is a command that was judged, and has not run.
type call struct {
	batch *approval.Batch
	args  json.RawMessage // without a word about leaving the sandbox
	// person is why only a person may allow it; empty if others may. It came from folder, and
	// runs in dir.
	person, folder, dir string
	// prompt says that the agent's own prompt asks about it: that it runs is the answer.
	prompt bool
	until  time.Time
	timer  *time.Timer
}

// calls are those of a keeper, by their tokens. A token counts once.
type calls struct {
	key string

	mu      sync.Mutex
	judged  map[string]*call
	ran     map[string]bool
	folders map[string]string // that commands went to
	ended   bool
}

var (
	errUsed    = errors.New("its token was used already; each counts once")
	errUnknown = errors.New("its token is unknown, or was not used in time; try the command again")
)

// add makes the token of a call. If it is not used in time, expired is called.
func (c *calls) add(one *call, expired func()) string {
	token := staged.NewToken(c.key, rand.Text())
	wait := tokenTime
	if one.prompt {
		wait = promptTime
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.judged == nil {
		c.judged, c.ran, c.folders = map[string]*call{}, map[string]bool{}, map[string]string{}
	}
	one.until = time.Now().Add(wait)
	one.timer = time.AfterFunc(wait, func() {
		if _, err := c.take(token); err == nil {
			expired()
			c.over(token)
		}
	})
	c.judged[token] = one
	return token
}

// take takes the call of a token, once.
func (c *calls) take(token string) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.judged[token]
	switch {
	case c.ended:
		return nil, errors.New("the session has ended")
	case c.ran[token]:
		return nil, errUsed
	case one == nil:
		return nil, errUnknown
	}
	delete(c.judged, token)
	c.ran[token] = true
	one.timer.Stop()
	return one, nil
}

// went notes the folder that a command went to.
func (c *calls) went(token, dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folders[token] = dir
}

// over says that a command has ended: after a while nothing is known of it any more.
func (c *calls) over(token string) {
	time.AfterFunc(promptTime, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.ran, token)
		delete(c.folders, token)
	})
}

// folder is that folder, once.
func (c *calls) folder(token string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir, ok := c.folders[token]
	if !ok {
		return "", errors.New("no command with this token has ended here")
	}
	delete(c.folders, token)
	return dir, nil
}

// wait reports whether some were judged that may still run.
func (c *calls) wait() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.judged) > 0
}

// end lets no more run, and returns those that did not.
func (c *calls) end() []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, one := range c.judged {
		one.timer.Stop()
	}
	return slices.Collect(maps.Values(c.judged))
}
