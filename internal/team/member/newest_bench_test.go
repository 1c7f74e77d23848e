package member_test

import "testing"

// BenchmarkNewest is what a program that runs on pays for a call to see that the team's policy is still the same.
func BenchmarkNewest(b *testing.B) {
	s := newScene(b)
	s.join()
	s.must(s.save(s.bundle(7)))
	for b.Loop() {
		if p, fresh := s.Newest(); p == nil || !fresh {
			b.Fatal("there is no policy")
		}
	}
}

// BenchmarkReserved is what each judgement of a machine with a team has always paid.
func BenchmarkReserved(b *testing.B) {
	s := newScene(b)
	s.join()
	s.must(s.save(s.bundle(7)))
	for b.Loop() {
		if _, err := s.Reserved(); err != nil {
			b.Fatal(err)
		}
	}
}
