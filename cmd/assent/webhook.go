package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/notify"
	"github.com/assent-dev/assent/internal/webhook"
)

// webhookCmd sends the webhook of the user's config; runs and hooks start it when a request waits.
func webhookCmd() *cobra.Command {
	return &cobra.Command{
		Use:    notify.WebhookCommand,
		Hidden: true,
		Short:  "Send your webhook about a request that waits",
		Long: "This reads a notice from standard input and sends the webhook of your config.yaml: the request's id, the\n" +
			"tool, the project and how urgent it is. assent starts it by itself.",
		Example: `  echo '{"id": "x", "tool": "shell", "project": "shop"}' | assent ` + notify.WebhookCommand,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var n notify.Notice
			const most = 64 << 10
			if err := json.NewDecoder(io.LimitReader(c.InOrStdin(), most)).Decode(&n); err != nil {
				return fmt.Errorf("the notice is not JSON: %w", err)
			}
			user, err := userConfig()
			if err != nil {
				return err
			}
			if user.Webhook.URL == "" {
				return errors.New("your config.yaml has no webhook")
			}
			secret, err := readSecret(user.Webhook.SecretFile)
			if err != nil {
				return err
			}
			to := webhook.Target{URL: user.Webhook.URL, Secret: secret}
			return webhook.Send(c.Context(), to, webhook.Notice{ID: n.ID, Tool: n.Tool, Project: n.Project, Urgency: n.Urgency})
		},
	}
}

// readSecret reads a file that only its owner may read.
func readSecret(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("webhook.secret_file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 || !info.Mode().IsRegular() {
		return "", fmt.Errorf("webhook.secret_file: others can read %s; run: chmod 600 %s", path, path)
	}
	data, err := os.ReadFile(path)
	return strings.TrimSpace(string(data)), err
}
