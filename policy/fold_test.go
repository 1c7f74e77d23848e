package policy

import "testing"

// Where files are found without case, a deny is met in any case and an allow only as it is written.
func TestPathDeniesFoldCaseWhereFilesDo(t *testing.T) {
	usual := foldsCase
	t.Cleanup(func() { foldsCase = usual })
	for _, folds := range []bool{true, false} {
		foldsCase = folds
		for _, c := range []struct {
			pattern, file string
			same          bool // also where case counts
		}{
			{"read_file(Secrets/**)", "secrets/key.pem", false},
			{"read_file(secrets/**)", "SECRETS/Key.pem", false},
			{"read_file(**/.Env)", "a/b/.env", false},
			{"read_file(/Users/me/.ssh/**)", "/users/ME/.SSH/id", false},
			{"read_file([A-C]x/*)", "bx/y", false},
			{"read_file({Notes,drafts}/*)", "notes/y", false},
			{"read_file(ſecret)", "Secret", false},
			{"read_file(secrets/**)", "secrets/a", true},
			{"*_file(Secrets/**)", "secrets/a", false},
		} {
			act := Act{Name: ActReadFile, Target: PathTarget(c.file)}
			if got, want := denies(t, c.pattern, act) == MatchYes, folds || c.same; got != want {
				t.Errorf("folds %v: deny %s meets %s: %v", folds, c.pattern, c.file, got)
			}
			if got := allows(t, c.pattern, act); got != c.same {
				t.Errorf("folds %v: allow %s covers %s: %v", folds, c.pattern, c.file, got)
			}
		}
		text := Act{Name: "send", Target: TextTarget("ABCdef")}
		if denies(t, "send(ABC*)", text) != MatchYes || denies(t, "send(abc*)", text) == MatchYes {
			t.Errorf("folds %v: texts are matched as they are written", folds)
		}
	}
}
