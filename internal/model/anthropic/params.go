package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// params writes the prompt as the Messages API has it.
func (t *Talker) params(p worker.Prompt, names *model.Names) (sdk.MessageNewParams, error) {
	params := sdk.MessageNewParams{Model: sdk.Model(t.endpoint.Model), MaxTokens: t.endpoint.MaxTokens}
	if t.endpoint.BaseURL == "" {
		// Other servers that speak this API need not know caches.
		params.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	if p.Instructions != "" {
		params.System = []sdk.TextBlockParam{{Text: p.Instructions}}
	}
	for _, s := range p.Tools {
		schema, err := model.Schema(s)
		if err != nil {
			return params, err
		}
		tool := sdk.ToolParam{
			Name:        names.Of(s.Connector, s.Name),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](schema),
		}
		if s.Description != "" {
			tool.Description = sdk.String(s.Description)
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	for _, r := range p.Rounds {
		blocks, err := userBlocks(r.Message)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages, sdk.NewUserMessage(blocks...))
		for _, s := range r.Steps {
			params.Messages = append(params.Messages, stepMessages(s, names)...)
		}
	}
	return params, nil
}

func userBlocks(m worker.Message) ([]sdk.ContentBlockParamUnion, error) {
	parts, err := model.Parts(m)
	if err != nil {
		return nil, err
	}
	var out []sdk.ContentBlockParamUnion
	for _, p := range parts {
		switch p.Kind {
		case model.ImagePart:
			out = append(out, sdk.NewImageBlockBase64(p.MediaType, p.Text))
		case model.PDFPart:
			block := sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: p.Text})
			block.OfDocument.Title = sdk.String(p.Name)
			out = append(out, block)
		default:
			out = append(out, sdk.NewTextBlock(p.Text))
		}
	}
	return out, nil
}

// stepMessages returns what the model said and what came of it. A turn that said nothing
// leaves no trace: the API takes no empty message.
func stepMessages(s worker.Step, names *model.Names) []sdk.MessageParam {
	var said, results []sdk.ContentBlockParamUnion
	if strings.TrimSpace(s.Turn.Text) != "" {
		said = append(said, sdk.NewTextBlock(s.Turn.Text))
	}
	for _, c := range s.Turn.Calls {
		said = append(said, sdk.NewToolUseBlock(c.ID, model.Arguments(c), names.Of(c.Connector, c.Tool)))
	}
	for _, r := range model.Results(s) {
		results = append(results, sdk.NewToolResultBlock(r.ID, r.Text, r.Error))
	}
	var out []sdk.MessageParam
	if len(said) > 0 {
		out = append(out, sdk.NewAssistantMessage(said...))
	}
	if len(results) > 0 {
		out = append(out, sdk.NewUserMessage(results...))
	}
	return out
}
