package arch_test

import "testing"

func TestTestsNeitherSkipNorSleep(t *testing.T) {
	test := func(body string) map[string]string {
		return map[string]string{
			"present/x.go":      source(),
			"present/x_test.go": "package x\n\nfunc TestX(t *testing.T) {\n\t" + body + "\n}\n",
		}
	}
	expect(t, check(t, test(`t.Skip("not now")`)), "present/x_test.go:4", "may not skip")
	expect(t, check(t, test(`if testing.Short() { t.SkipNow() }`)), "present/x_test.go:4", "may not skip")
	expect(t, check(t, test(`time.Sleep(1)`)), "present/x_test.go:4", "may not sleep")
	expectNone(t, check(t, test(`_ = fs.SkipDir; skip(); t.Log("Skip")`)))
}
