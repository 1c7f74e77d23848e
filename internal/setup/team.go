package setup

import (
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/policy"
)

// readTeam adds the policy of the team that the administrator's file names. Without one, no further file is
// looked at.
func (s *Setup) readTeam(admin *config.File) {
	team := admin.Policy.Team
	if team.Trust == "" {
		return
	}
	s.member = member.Load(s.Places.State, team, time.Now)
	if p, fresh := s.member.Policy(); p != nil {
		s.tiers = append(s.tiers, config.Tier{Kind: config.TeamTier, Policy: p, Trusted: fresh})
		s.files = append(s.files, member.BundleFile(s.Places.State))
	}
}

// Team is what gates ask about the team of this machine; nil if it belongs to none.
func (s *Setup) Team() approval.Team {
	if s.member == nil {
		return nil
	}
	return s.member
}

// TeamStatus says how this machine stands to its team; not ok if it belongs to none.
func (s *Setup) TeamStatus() (status member.Status, ok bool) {
	if s.member == nil {
		return status, false
	}
	return s.member.Status(), true
}

// Decided reports whether people of the team decide about an act on its own, so that nothing does it by the way.
func (s *Setup) Decided(call policy.Call, act policy.Act) bool {
	return s.member != nil && s.member.Decided(&call, act)
}
