package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// An AttachmentPolicy says which files may be handed over with a message.
type AttachmentPolicy struct {
	MaxAttachments int
	MaxTotalBytes  int64
	// Allowed are the endings that are taken; none means any. Denied are not taken,
	// whatever Allowed says.
	Allowed, Denied []string
}

// DefaultAttachments is what a worker that says nothing takes.
var DefaultAttachments = AttachmentPolicy{MaxAttachments: 4, MaxTotalBytes: 10_000_000}

func (r *report) attachments(n ast.Node) AttachmentPolicy {
	o := r.object(n, "attachment_policy", attachmentShape)
	p := DefaultAttachments
	if n, ok := o.take("max_attachments"); ok {
		p.MaxAttachments = int(min(r.count(n, "max_attachments"), 1<<30))
	}
	if n, ok := o.take("max_total_bytes"); ok {
		p.MaxTotalBytes = r.count(n, "max_total_bytes")
	}
	if n, ok := o.take("allowed_suffixes"); ok {
		p.Allowed = r.suffixes(n, "attachment_policy")
	}
	if n, ok := o.take("denied_suffixes"); ok {
		p.Denied = r.suffixes(n, "attachment_policy")
	}
	return p
}

// Check reports why these files cannot be handed over together. Names and sizes are of the
// same length.
func (p AttachmentPolicy) Check(names []string, sizes []int64) error {
	if len(names) > p.MaxAttachments {
		return fmt.Errorf("%d attachments; at most %d are taken", len(names), p.MaxAttachments)
	}
	total := int64(0)
	for i, name := range names {
		total += sizes[i]
		if hasSuffix(name, p.Denied) || len(p.Allowed) > 0 && !hasSuffix(name, p.Allowed) {
			return fmt.Errorf("attachment %s: files with this ending are not taken", name)
		}
	}
	if total > p.MaxTotalBytes {
		return fmt.Errorf("the attachments have %d bytes together; at most %d are taken", total, p.MaxTotalBytes)
	}
	return nil
}

func hasSuffix(name string, suffixes []string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(strings.ToLower(name), strings.ToLower(s)) {
			return true
		}
	}
	return false
}
