package keeper

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTokensEnd(t *testing.T) {
	for name, one := range map[string]*call{"soon": {}, "at the prompt": {prompt: true}} {
		synctest.Test(t, func(t *testing.T) {
			c := calls{key: strings.Repeat("0", 32)}
			expired := 0
			used, unused := c.add(one, func() { expired++ }), c.add(&call{prompt: one.prompt}, func() { expired++ })
			wait := tokenTime
			if one.prompt {
				wait = promptTime
			}
			<-time.After(wait - time.Second)
			if got, err := c.take(used); err != nil || got != one {
				t.Errorf("%s: before its time: %v", name, err)
			}
			if !c.wait() {
				t.Errorf("%s: nothing waits", name)
			}
			<-time.After(2 * time.Second)
			synctest.Wait()
			if c.wait() {
				t.Errorf("%s: something waits", name)
			}
			if _, err := c.take(unused); err == nil || expired != 1 {
				t.Errorf("%s: after its time: %v, %d expired", name, err, expired)
			}
			if _, err := c.take(used); !errors.Is(err, errUsed) {
				t.Errorf("%s: again: %v", name, err)
			}
			c.went(used, "/folder")
			c.over(used)
			<-time.After(promptTime)
			synctest.Wait()
			if len(c.judged)+len(c.ran)+len(c.folders) > 0 {
				t.Errorf("%s: never forgotten: %d judged, %d ran, %d folders", name, len(c.judged), len(c.ran), len(c.folders))
			}
			if _, err := c.take(used); err == nil {
				t.Errorf("%s: it counts again", name)
			}
			c.end()
			if _, err := c.take(c.add(&call{}, func() {})); err == nil {
				t.Errorf("%s: after the end", name)
			}
		})
	}
}
