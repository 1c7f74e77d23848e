package model

import (
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/worker"
)

// A PartKind is a form in which providers take attachments.
type PartKind int

// The forms.
const (
	TextPart PartKind = iota + 1
	ImagePart
	PDFPart
)

// A Part is a piece of a message.
type Part struct {
	Kind PartKind
	// Text is the text of a TextPart, and the data of others in base64.
	Text string
	// Name and MediaType are those of the attachment.
	Name, MediaType string
}

// imageTypes are the images that both providers take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Parts returns a message in pieces: what is said, behind the attachments. A message that
// says nothing is an error, as no provider takes it.
func Parts(m worker.Message) ([]Part, error) {
	var out []Part
	for _, a := range m.Attachments {
		p, err := part(a)
		if err != nil {
			return nil, fmt.Errorf("attachment %s: %w", a.Name, err)
		}
		out = append(out, p)
	}
	if strings.TrimSpace(m.Text) != "" {
		out = append(out, Part{Kind: TextPart, Text: m.Text})
	}
	if len(out) == 0 {
		return nil, errors.New("the message is empty; say what is to be done")
	}
	return out, nil
}

func part(a worker.Attachment) (Part, error) {
	media, _, err := mime.ParseMediaType(a.MediaType)
	if err != nil {
		media = "" // then it counts by its content
	}
	encoded := func(kind PartKind) Part {
		return Part{Kind: kind, Text: base64.StdEncoding.EncodeToString(a.Data), Name: a.Name, MediaType: media}
	}
	switch {
	case slices.Contains(imageTypes, media):
		return encoded(ImagePart), nil
	case media == "application/pdf":
		return encoded(PDFPart), nil
	case utf8.Valid(a.Data) && !slices.Contains(a.Data, 0):
		return Part{Kind: TextPart, Text: fmt.Sprintf("File %s:\n\n%s", a.Name, a.Data), Name: a.Name,
			MediaType: media}, nil
	}
	return Part{}, fmt.Errorf("models take text, PDF, and images as PNG, JPEG, GIF or WebP; this is %q", a.MediaType)
}
