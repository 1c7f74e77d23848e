package openai

import (
	"fmt"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
	sdk "github.com/openai/openai-go/v3"
)

// params writes the prompt as the Chat Completions API has it.
func (t *Talker) params(p worker.Prompt, names *model.Names) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{
		Model:         t.endpoint.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	t.limit(&params)
	if p.Instructions != "" {
		params.Messages = append(params.Messages, sdk.SystemMessage(p.Instructions))
	}
	for _, s := range p.Tools {
		schema, err := model.Schema(s)
		if err != nil {
			return params, err
		}
		function := sdk.FunctionDefinitionParam{Name: names.Of(s.Connector, s.Name), Parameters: schema}
		if s.Description != "" {
			function.Description = sdk.String(s.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(function))
	}
	for _, r := range p.Rounds {
		said, err := userMessage(r.Message)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages, said)
		for _, s := range r.Steps {
			params.Messages = append(params.Messages, stepMessages(s, names)...)
		}
	}
	return params, nil
}

// limit sets how long an answer may be. OpenAI's own models want to be told by another
// name than everybody else's.
func (t *Talker) limit(params *sdk.ChatCompletionNewParams) {
	switch {
	case t.endpoint.MaxTokens <= 0:
	case t.endpoint.BaseURL == "":
		params.MaxCompletionTokens = sdk.Int(t.endpoint.MaxTokens)
	default:
		params.MaxTokens = sdk.Int(t.endpoint.MaxTokens)
	}
}

func userMessage(m worker.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	parts, err := model.Parts(m)
	if err != nil {
		return sdk.ChatCompletionMessageParamUnion{}, err
	}
	if len(parts) == 1 && parts[0].Kind == model.TextPart {
		return sdk.UserMessage(parts[0].Text), nil // small servers know nothing else
	}
	var out []sdk.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		data := fmt.Sprintf("data:%s;base64,%s", p.MediaType, p.Text)
		switch p.Kind {
		case model.ImagePart:
			out = append(out, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: data}))
		case model.PDFPart:
			out = append(out, sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{
				Filename: sdk.String(p.Name), FileData: sdk.String(data),
			}))
		default:
			out = append(out, sdk.TextContentPart(p.Text))
		}
	}
	return sdk.UserMessage(out), nil
}

// stepMessages returns what the model said and what came of it. A turn that said nothing
// leaves no trace.
func stepMessages(s worker.Step, names *model.Names) []sdk.ChatCompletionMessageParamUnion {
	var said sdk.ChatCompletionAssistantMessageParam
	if s.Turn.Text != "" {
		said.Content.OfString = sdk.String(s.Turn.Text)
	}
	for _, c := range s.Turn.Calls {
		said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: names.Of(c.Connector, c.Tool), Arguments: string(model.Arguments(c)),
				},
			},
		})
	}
	if s.Turn.Text == "" && len(said.ToolCalls) == 0 {
		return nil
	}
	out := []sdk.ChatCompletionMessageParamUnion{{OfAssistant: &said}}
	for _, r := range model.Results(s) {
		out = append(out, sdk.ToolMessage(r.Text, r.ID))
	}
	return out
}
