package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// discards is what Claude Code does with a file of the user or a project in which anything is
// not as it wants it. Tried with 2.1.325, which then says so in its own output alone.
const discards = "Claude Code discards the whole file, and its hooks with it"

// claude reads the settings as Claude Code does.
func (in *inspection) claude() {
	for _, name := range claudeModes {
		if truthy(in.value(name)) {
			in.found(Finding{Scope: User, Do: "unset it", Off: true, stays: true,
				What: "the variable " + name + " is set: Claude Code calls no hook then"})
		}
	}
	for _, f := range in.Files(in.Surroundings) {
		if f.Scope == Managed {
			in.claudeManaged(f.Path)
		} else {
			in.claudeFile(f.Scope, f.Path)
		}
	}
}

// claudeModes are variables in which Claude Code runs without hooks. In the user's settings
// they hold too.
var claudeModes = []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"}

func truthy(v string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(v)))
}

// claudeManaged reads a file of the administrator's settings.
func (in *inspection) claudeManaged(path string) {
	const do = "have your administrator change it"
	l, ok := in.json(Managed, path, "Claude Code does not start")
	if !ok {
		return
	}
	in.strict(l, "Claude Code does not start", aByteOrderMark)
	if n := l.top.member("disableAllHooks"); n != nil {
		switch l.decoded(n) {
		case false:
			in.on = true
		case nil, "false":
		default:
			in.at(l, n.start, true, "disableAllHooks is set: Claude Code calls no hook", do)
		}
	}
	if n := l.top.member("allowManagedHooksOnly"); l.decoded(n) == true {
		in.at(l, n.start, true, "allowManagedHooksOnly is true: Claude Code calls only the hooks of the administrator", do)
	}
	if n := l.top.member("strictPluginOnlyCustomization"); n != nil {
		list, _ := l.decoded(n).([]any)
		if l.decoded(n) == true || slices.Contains(list, any("hooks")) {
			in.at(l, n.start, true, "strictPluginOnlyCustomization covers hooks: Claude Code calls only those of plugins", do)
		}
	}
	in.claudeEnv(l, do)
}

// claudeFile reads a file of the user or a project. Whether all of it is valid matters only
// for the one with our hook: another one that is discarded turns nothing off.
func (in *inspection) claudeFile(scope Scope, path string) {
	then := ""
	if path == in.hook {
		then = discards
	}
	l, ok := in.json(scope, path, then)
	if !ok {
		return
	}
	if n := l.top.member("disableAllHooks"); l.decoded(n) == true {
		in.at(l, n.start, true, "disableAllHooks is true: Claude Code calls no hook", "take it out")
	}
	if scope == User {
		in.claudeEnv(l, "take it out")
	}
	if path != in.hook {
		return
	}
	in.strict(l, discards, aByteOrderMark)
	in.whole(l)
	for _, m := range l.top.members {
		switch wrong, unsure := claudeKey(m.key, l.decoded(&m.value)); {
		case unsure:
			in.at(l, m.start, false, m.key+" has rules that assent does not check; if it breaks one, "+discards,
				"take it out, or see that claude starts without the words 'did not load'")
		case wrong != "":
			in.at(l, m.start, false, m.key+" must be "+wrong+": "+discards, "correct it")
		}
	}
}

// claudeEnv finds variables that the settings give Claude Code and that take the hooks away.
func (in *inspection) claudeEnv(l layer, do string) {
	for _, name := range append([]string{"CLAUDE_CONFIG_DIR"}, claudeModes...) {
		n := l.top.at("env", name)
		if v, _ := l.decoded(n).(string); truthy(v) || name == "CLAUDE_CONFIG_DIR" && n != nil {
			in.found(Finding{Scope: l.scope, Path: l.path, Line: l.line(n.start), Do: do, Off: true, stays: true,
				What: "env sets " + name + ": Claude Code calls no hook of these settings then"})
		}
	}
}

// The settings that Claude Code 2.1.325 knows, by what it wants of them. With anything else it
// discards the file: each was tried with a value of every kind. It takes no notice of a
// setting that it does not know, nor of a wrong value in those that are not here.
var (
	claudeBools = strings.Fields(`respectGitignore wslInheritsWindowsSettings includeCoAuthoredBy
		includeGitInstructions disableAllHooks disableReplyCheck workflowKeywordTriggerEnabled bashEditDiffEnabled
		respondToBashCommands allowAllClaudeAiMcps allowClaudeInChromeWithManagedMcp forceRemoteSettingsRefresh
		spinnerTipsEnabled clawdFileProgressEnabled syntaxHighlightingDisabled terminalTitleFromRename
		alwaysThinkingEnabled fastMode promptSuggestionEnabled emojiCompletionEnabled awaySummaryEnabled
		showClearContextOnPlanAccept prefersReducedMotion doneMeansMerged totalTokensReminderAfterUserTurn
		autoMemoryEnabled autoDreamEnabled showThinkingSummaries verbose autoCompactEnabled precomputeCompactionEnabled
		idleCompaction switchModelsOnFlag autoScrollEnabled wheelScrollAccelerationEnabled fileCheckpointingEnabled
		showTurnDuration showMessageTimestamps terminalProgressBarEnabled todoFeatureEnabled inputNeededNotifEnabled
		agentPushNotifEnabled voiceEnabled axScreenReader syncClaudeAiSkills syncClaudeAiPlugins enforceAvailableModels
		enableAllProjectMcpServers disableClaudeAiConnectors disableBundledSkills disableAgentView disableRemoteControl
		disableWorkflows disableArtifact enableArtifact enableWorkflows disableSkillShellExecution
		disableWindowsBashCommandSplit allowManagedHooksOnly allowManagedPermissionRulesOnly allowManagedMcpServersOnly
		disableCommandPluginSources disableSideloadFlags skipWebFetchPreflight fastModePerSessionOptIn
		responseComparisonEnabled channelsEnabled skipDangerousModePermissionPrompt skipWorkflowUsageWarning
		autoContinueAtUsageLimit remoteControlAtStartup isolatePeerMachines autoUploadSessions
		skipAutoPermissionPrompt`)
	claudeTexts = strings.Fields(`$schema apiKeyHelper proxyAuthHelper awsCredentialExport awsAuthRefresh
		gcpAuthRefresh processWrapper attributionProject model prUrlTemplate otelHeadersHelper outputStyle language
		advisorModel agent minimumVersion requiredMinimumVersion requiredMaximumVersion plansDirectory timeFormat
		timeZone autoMemoryDirectory claudeMd pluginTrustMessage`)
	claudeCounts = strings.Fields(`cleanupPeriodDays desktopSessionCleanupPeriodDays skillListingMaxDescChars
		totalTokensReminderBudget`)
	claudeLists = strings.Fields(`fallbackModel availableModels allowedHttpHookUrls httpHookAllowedEnvVars
		pluginSuggestionMarketplaces companyAnnouncements claudeMdExcludes enabledMcpjsonServers
		disabledMcpjsonServers`)
	// claudeUnsure have rules of their own that are not written down here.
	claudeUnsure = strings.Fields(`fileSuggestion skillListingBudgetFraction workflowSizeGuideline defaultShell
		parentSettingsBehavior managedSourcesBehavior feedbackSurveyRate spinnerVerbs tui totalTokensReminder
		daemonColdStart defaultView breakReminder quietHours worktree remote voice remoteTools modelOverrides
		skillOverrides pluginConfigs forceLoginOrgUUID feedbackDrafts disableAutoMode disableDeepLinkRegistration
		strictKnownMarketplaces blockedMarketplaces allowedChannelPlugins sshConfigs teammateMode remoteControl`)
	claudePermissionModes = []any{"default", "manual", "plan", "acceptEdits", "bypassPermissions", "auto", "dontAsk"}
)

// claudeKey says what the value of a setting must be and is not, or that it has rules that are
// not known here.
func claudeKey(key string, value any) (want string, unsure bool) {
	fields, object := value.(map[string]any)
	switch {
	case slices.Contains(claudeBools, key):
		want = unless(isBool(value), "true or false")
	case slices.Contains(claudeTexts, key):
		want = unless(isText(value), "a string")
	case slices.Contains(claudeCounts, key):
		n, ok := value.(float64)
		want = unless(ok && n >= 1 && n == float64(int64(n)), "a whole number above 0")
	case slices.Contains(claudeLists, key):
		want = unless(isTexts(value), "a list of strings")
	case key == "autoUpdatesChannel":
		want = unless(value == "latest" || value == "stable", "latest or stable")
	case key == "env":
		want = unless(object, "an object")
	case key == "enabledPlugins":
		for _, v := range fields {
			object = object && (isBool(v) || isTexts(v))
		}
		want = unless(object, "an object of true and false")
	case key == "attribution":
		want = unless(isBool(value) || object && fieldsAre(fields, []string{"commit", "pr"}, isText), "an object of strings")
	case key == "statusLine":
		_, number := fields["padding"].(float64)
		runs := fields["type"] == "command" && isText(fields["command"])
		want = unless(runs && (number || fields["padding"] == nil), "an object with the type command and a command")
	case key == "permissions":
		want = claudePermissions(fields, object)
	case key == "hooks":
		want = claudeHooks(fields, object)
	case key == "sandbox":
		return claudeSandbox(fields, object)
	case slices.Contains(claudeUnsure, key):
		return "", true
	}
	return want, false
}

// The fields of the setting sandbox that are checked; the last two hold lists and switches too.
var (
	claudeSandboxBools = strings.Fields(`enabled failIfUnavailable autoAllowBashIfSandboxed allowUnsandboxedCommands
		allowAllUnixSockets allowLocalBinding`)
	claudeSandboxLists = strings.Fields(`excludedCommands allowedDomains deniedDomains allowUnixSockets allowWrite
		denyWrite denyRead allowRead`)
	claudeSandboxParts = strings.Fields("network filesystem")
)

func claudeSandbox(fields map[string]any, object bool) (want string, unsure bool) {
	if !object || !fieldsAre(fields, claudeSandboxBools, isBool) || !fieldsAre(fields, claudeSandboxLists, isTexts) {
		return "an object of switches and lists of strings", false
	}
	for name, v := range fields {
		switch part, ok := v.(map[string]any); {
		case slices.Contains(claudeSandboxParts, name):
			w, u := claudeSandbox(part, ok)
			want, unsure = cmp.Or(want, w), unsure || u
		case !slices.Contains(claudeSandboxBools, name) && !slices.Contains(claudeSandboxLists, name):
			unsure = true
		}
	}
	return want, unsure
}

// claudePermissions and claudeHooks say what is expected where it is not there.
func claudePermissions(p map[string]any, object bool) string {
	mode, set := p["defaultMode"]
	switch {
	case !object:
		return "an object"
	case set && !slices.Contains(claudePermissionModes, mode):
		return "an object whose defaultMode Claude Code knows"
	case p["disableBypassPermissionsMode"] != nil && p["disableBypassPermissionsMode"] != "disable":
		return "an object whose disableBypassPermissionsMode is disable"
	}
	lists := fieldsAre(p, []string{"allow", "deny", "ask"}, isList)
	return unless(lists && fieldsAre(p, []string{"additionalDirectories"}, isTexts), "an object of lists")
}

func claudeHooks(events map[string]any, object bool) string {
	if !object {
		return "an object"
	}
	for event, groups := range events {
		list, ok := groups.([]any)
		if !ok {
			return "an object of lists, and " + event + " is none"
		}
		for _, g := range list {
			group, _ := g.(map[string]any)
			entries, ok := group["hooks"].([]any)
			if !ok || !fieldsAre(group, []string{"matcher"}, isText) {
				return "made of groups with a matcher and hooks, and one of " + event + " is not"
			}
			for _, e := range entries {
				if wrong := claudeEntry(e); wrong != "" {
					return "made of entries that Claude Code knows, and one of " + event + " " + wrong
				}
			}
		}
	}
	return ""
}

// claudeEntry says what is wrong with one hook.
func claudeEntry(e any) string {
	entry, _ := e.(map[string]any)
	timeout, number := entry["timeout"].(float64)
	switch {
	case !slices.Contains([]any{"command", "prompt", "agent", "http", "mcp_tool", "script"}, entry["type"]):
		return fmt.Sprintf("has the type %v", entry["type"])
	case entry["type"] == "command" && !isText(entry["command"]):
		return "has no command"
	case entry["args"] != nil && !isTexts(entry["args"]):
		return "has arguments that are not strings"
	case entry["timeout"] != nil && (!number || timeout <= 0):
		return "has a timeout that is not a number above 0"
	case entry["onFailure"] != nil && entry["onFailure"] != "block" && entry["onFailure"] != "continue":
		return "has an onFailure that is neither block nor continue"
	}
	return ""
}

func unless(ok bool, want string) string {
	if ok {
		return ""
	}
	return want
}

// fieldsAre reports whether the fields that are there are as they should be.
func fieldsAre(fields map[string]any, names []string, is func(any) bool) bool {
	for _, name := range names {
		if v, ok := fields[name]; ok && !is(v) {
			return false
		}
	}
	return true
}

func isBool(v any) bool { _, ok := v.(bool); return ok }
func isText(v any) bool { _, ok := v.(string); return ok }
func isList(v any) bool { _, ok := v.([]any); return ok }

func isTexts(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(v any) bool { return !isText(v) })
}
