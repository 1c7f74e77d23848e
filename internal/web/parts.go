package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Rules are what is remembered.
type Rules interface {
	Rules(ctx context.Context) ([]policy.Rule, error)
	// Try says what a rule would have changed in the past, and what is to be known before it is kept. It
	// changes nothing.
	Try(ctx context.Context, rule, project string) (Trial, error)
	// Add keeps a rule; a wide one only if wide says so.
	Add(ctx context.Context, rule, project, note string, wide bool) (policy.Rule, error)
	Enable(ctx context.Context, id string, on bool) error
	Remove(ctx context.Context, id string) error
	Grants(ctx context.Context) ([]policy.Grant, error)
	Revoke(ctx context.Context, session, id string) error
	// Suggest proposes rules from what was answered again and again.
	Suggest(ctx context.Context) ([]Suggested, error)
}

// A Trial is a rule that is not kept yet.
type Trial struct {
	Rule string `json:"rule" doc:"as it would be kept"`
	// Wide says why the rule is so wide that it needs a second yes.
	Wide     string   `json:"wide,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Calls    int      `json:"calls" doc:"past calls that were looked at"`
	Changes  []string `json:"changes,omitempty" doc:"past calls that would have gone otherwise"`
}

// A Suggested is a rule that would have answered questions.
type Suggested struct {
	Rule    string `json:"rule"`
	Answers int    `json:"answers" doc:"how many past questions it would have answered"`
	Risk    string `json:"risk,omitempty" doc:"what it would have let through that was denied"`
}

// Records are the audit log.
type Records interface {
	// Search returns records, the newest first.
	Search(ctx context.Context, q Search) ([]approval.Record, error)
	// Story returns all that is kept of the call of a record, in plain text.
	Story(ctx context.Context, seq int64) (string, error)
	Verify(ctx context.Context) (audit.Verification, error)
	Export(ctx context.Context, w io.Writer, format string) error
	// Days returns the questions and answers of each day, the oldest first.
	Days(ctx context.Context) ([]Day, error)
}

// A Search says which records are wanted.
type Search struct {
	Text    string // in the tool, the acts, the reason or the note
	Outcome string
	Session string
	Before  int64 // records with a lower number; 0 for the newest
	Limit   int
}

// A Day counts what was asked on it.
type Day struct {
	Day      time.Time `json:"day"`
	Asked    int64     `json:"asked"`
	Approved int64     `json:"approved"`
	Denied   int64     `json:"denied"`
}

type (
	operation func(id, path, summary string) huma.Operation
	personal  func(id, method, path, summary string) huma.Operation
)

type ruleInput struct {
	Body struct {
		Rule    string `json:"rule" maxLength:"10000" doc:"such as: allow shell(npm test)"`
		Project string `json:"project,omitempty" doc:"the folder that it holds in; everywhere without"`
		Note    string `json:"note,omitempty" maxLength:"1000"`
		Wide    bool   `json:"wide,omitempty" doc:"keep it although it is wide"`
		DryRun  bool   `json:"dry_run,omitempty" doc:"only say what it would change"`
	}
}

type ruleOutput struct {
	Body struct {
		Trial *Trial      `json:"trial,omitempty"`
		Rule  *RuleDetail `json:"rule,omitempty"`
	}
}

// A RuleDetail is a rule that is kept.
type RuleDetail struct {
	ID      string    `json:"id"`
	Rule    string    `json:"rule"`
	Enabled bool      `json:"enabled"`
	Created time.Time `json:"created"`
	Note    string    `json:"note,omitempty"`
	Project string    `json:"project,omitempty" doc:"the folder that it holds in; everywhere without"`
}

func ruleDetail(r policy.Rule) RuleDetail {
	return RuleDetail{r.ID, r.String(), r.Enabled, r.Created, r.Note, r.Project}
}

func (s *Server) describeRules(api huma.API, read operation, person personal) {
	if s.cfg.Rules == nil {
		return
	}
	type rulesOutput struct {
		Body struct {
			Rules []RuleDetail `json:"rules" nullable:"false"`
		}
	}
	huma.Register(api, read("list-rules", "/rules", "List the rules that are kept"),
		func(ctx context.Context, _ *struct{}) (*rulesOutput, error) {
			if err := allowed(ctx, proof.RightRead); err != nil {
				return nil, err
			}
			all, err := s.cfg.Rules.Rules(ctx)
			out := &rulesOutput{}
			out.Body.Rules = []RuleDetail{}
			for _, r := range all {
				out.Body.Rules = append(out.Body.Rules, ruleDetail(r))
			}
			return out, err
		})
	huma.Register(api, person("add-rule", http.MethodPost, "/rules", "Keep a rule, or try what it would change"), s.addRule)
	huma.Register(api, person("change-rule", http.MethodPatch, "/rules/{id}", "Turn a rule on or off"),
		func(ctx context.Context, in *struct {
			ID   string `path:"id"`
			Body struct {
				Enabled bool `json:"enabled"`
			}
		}) (*struct{}, error) {
			if err := byPerson(ctx); err != nil {
				return nil, err
			}
			return nil, failRule(s.cfg.Rules.Enable(ctx, in.ID, in.Body.Enabled))
		})
	huma.Register(api, person("remove-rule", http.MethodDelete, "/rules/{id}", "Remove a rule"),
		func(ctx context.Context, in *idInput) (*struct{}, error) {
			if err := byPerson(ctx); err != nil {
				return nil, err
			}
			return nil, failRule(s.cfg.Rules.Remove(ctx, in.ID))
		})
	huma.Register(api, person("revoke-grant", http.MethodDelete, "/sessions/{session}/grants/{id}", "Take back what was granted for a session"),
		func(ctx context.Context, in *struct {
			Session string `path:"session"`
			ID      string `path:"id"`
		}) (*struct{}, error) {
			if err := byPerson(ctx); err != nil {
				return nil, err
			}
			return nil, failRule(s.cfg.Rules.Revoke(ctx, in.Session, in.ID))
		})
}

func failRule(err error) error {
	if err == nil {
		return nil
	}
	return huma.Error422UnprocessableEntity(present.SafeLine(err.Error()))
}

func (s *Server) addRule(ctx context.Context, in *ruleInput) (*ruleOutput, error) {
	if err := byPerson(ctx); err != nil {
		return nil, err
	}
	out := &ruleOutput{}
	b := &in.Body
	if b.DryRun {
		trial, err := s.cfg.Rules.Try(ctx, b.Rule, b.Project)
		trial.Rule, trial.Wide = present.SafeLine(trial.Rule), present.SafeLine(trial.Wide)
		for _, lines := range [][]string{trial.Warnings, trial.Changes} {
			for i := range lines {
				lines[i] = present.SafeLine(lines[i])
			}
		}
		out.Body.Trial = &trial
		return out, failRule(err)
	}
	rule, err := s.cfg.Rules.Add(ctx, b.Rule, b.Project, b.Note, b.Wide)
	detail := ruleDetail(rule)
	out.Body.Rule = &detail
	return out, failRule(err)
}

func (s *Server) describeRecords(api huma.API, read operation) {
	if s.cfg.Records == nil {
		return
	}
	type recordsOutput struct {
		Body struct {
			Records []RecordDetail `json:"records" nullable:"false"`
		}
	}
	huma.Register(api, read("search-audit", "/audit", "Search the audit log, the newest first"),
		func(ctx context.Context, in *struct {
			Text    string `query:"text"`
			Outcome string `query:"outcome"`
			Session string `query:"session"`
			Before  int64  `query:"before"`
			Limit   int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
		}) (*recordsOutput, error) {
			if err := allowed(ctx, proof.RightRead); err != nil {
				return nil, err
			}
			all, err := s.cfg.Records.Search(ctx, Search{in.Text, in.Outcome, in.Session, in.Before, in.Limit})
			out := &recordsOutput{}
			out.Body.Records = []RecordDetail{}
			for i := range all {
				out.Body.Records = append(out.Body.Records, recordDetail(&all[i]))
			}
			return out, failRule(err)
		})
	type verifyOutput struct {
		Body struct {
			OK      bool     `json:"ok"`
			Records int64    `json:"records"`
			Head    string   `json:"head" doc:"a seal, to be kept elsewhere"`
			Flaws   []string `json:"flaws,omitempty"`
		}
	}
	huma.Register(api, read("verify-audit", "/audit/verify", "Check that nobody changed the log"),
		func(ctx context.Context, _ *struct{}) (*verifyOutput, error) {
			if err := allowed(ctx, proof.RightRead); err != nil {
				return nil, err
			}
			v, err := s.cfg.Records.Verify(ctx)
			out := &verifyOutput{}
			out.Body.OK, out.Body.Records, out.Body.Head = err == nil && v.OK(), v.Records, v.Head.String()
			for _, f := range v.Flaws {
				out.Body.Flaws = append(out.Body.Flaws, fmt.Sprint(f))
			}
			return out, err
		})
}

// A RecordDetail is a record in a list.
type RecordDetail struct {
	Seq   int64     `json:"seq"`
	At    time.Time `json:"at"`
	Tool  string    `json:"tool"`
	Acts  []string  `json:"acts,omitempty"`
	State string    `json:"state"`
	By    string    `json:"by,omitempty"`
	Why   string    `json:"why,omitempty"`
	Note  string    `json:"note,omitempty"`
	Proof bool      `json:"proof,omitempty" doc:"the answer is signed"`
}

func recordDetail(r *approval.Record) RecordDetail {
	tool := r.Tool
	if r.Connector != "" {
		tool = r.Connector + ":" + tool
	}
	out := RecordDetail{Seq: r.Seq, At: r.At, Tool: present.SafeLine(tool), State: string(r.State), By: present.SafeLine(r.By.String()),
		Why: present.SafeLine(r.Why), Note: present.SafeLine(r.Note), Proof: r.Proof != nil}
	if r.By.Via == "" {
		out.By = ""
	}
	for _, a := range r.Acts {
		out.Acts = append(out.Acts, present.SafeLine(a))
	}
	return out
}

// export sends the whole log.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	format := r.URL.Query().Get("format")
	kinds := map[string]string{"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
	kind, ok := kinds[format]
	if !ok {
		Refuse(w, http.StatusBadRequest, "format is jsonl or csv")
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="assent-audit.`+format+`"`)
	if err := s.cfg.Records.Export(r.Context(), w, format); err != nil {
		panic(http.ErrAbortHandler) // half a file must not look like a whole one
	}
}

func (s *Server) describeStatus(api huma.API, read operation) {
	if s.cfg.Status != nil {
		type statusOutput struct {
			Body struct {
				Text string `json:"text"`
			}
		}
		huma.Register(api, read("status", "/status", "Show what is on"),
			func(ctx context.Context, _ *struct{}) (*statusOutput, error) {
				if err := allowed(ctx, proof.RightRead); err != nil {
					return nil, err
				}
				out := &statusOutput{}
				text, err := s.cfg.Status(ctx)
				out.Body.Text = present.Safe(text)
				return out, failRule(err)
			})
	}
	if s.cfg.Explain == nil {
		return
	}
	type explainOutput struct {
		Body struct {
			Text string `json:"text"`
		}
	}
	huma.Register(api, huma.Operation{OperationID: "explain", Method: http.MethodPost, Path: base + "/explain", Tags: []string{"read"},
		Summary: "Explain what would happen to a call; it runs nothing and asks nobody"},
		func(ctx context.Context, in *struct {
			Body struct {
				Text string `json:"text" maxLength:"100000"`
				For  string `json:"for,omitempty"`
			}
		}) (*explainOutput, error) {
			if err := allowed(ctx, proof.RightRead); err != nil {
				return nil, err
			}
			text, err := s.cfg.Explain(ctx, in.Body.For, strings.TrimSpace(in.Body.Text))
			out := &explainOutput{}
			out.Body.Text = present.Safe(text)
			return out, failRule(err)
		})
}
