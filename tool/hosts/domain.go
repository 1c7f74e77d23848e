package hosts

import (
	"slices"
	"strings"
)

// A Public reports whether everybody can have a name below a domain. The list of such domains is
// long and comes from outside, so that programs which offer no answers for domains go without.
type Public func(domain string) bool

// shared are names below which each name belongs to somebody else: a yes to one of them says
// nothing about the others. They are those that are not in the public list, or came to it late;
// those of countries (co.uk) are also recognized by their form.
var shared = []string{
	"appspot.com", "azurecontainerapps.io", "azurewebsites.net", "azurestaticapps.net", "b-cdn.net", "beeceptor.com", "blogspot.com", "cloudapp.net", "cloudflare.net", "codeberg.page",
	"deno.dev", "duckdns.org", "edgekey.net", "firebaseapp.com", "firebaseio.com", "fly.dev", "github.dev", "github.io", "githubpreview.dev", "gitlab.io", "gitpod.io",
	"glitch.me", "googleusercontent.com", "herokuapp.com", "hf.space", "lhr.life", "loca.lt", "localtunnel.me", "m.pipedream.net", "modal.run", "neocities.org", "netlify.app", "ngrok.app", "ngrok.io", "ngrok-free.app", "ngrok-free.dev",
	"nip.io", "no-ip.org", "oast.fun", "oast.live", "oast.me", "oast.online", "oast.pro", "oast.site", "onrender.com", "pages.dev", "pinggy.link", "railway.app", "r2.dev", "readthedocs.io", "repl.co", "replit.app", "replit.dev", "requestcatcher.com", "run.app", "serveo.net",
	"sourceforge.io", "sslip.io", "stackblitz.io", "streamlit.app", "surge.sh", "translate.goog", "trycloudflare.com", "up.railway.app", "vercel.app", "web.app",
	"webcontainer.io", "webhook.site", "wixsite.com", "wordpress.com", "workers.dev", "xip.io",
}

// clouds are names below which customers have names at every depth.
var clouds = []string{
	"aliyuncs.com", "akamaized.net", "amazonaws.com", "amazonaws.com.cn", "awsapps.com", "azure.com", "azureedge.net", "azurefd.net", "backblazeb2.com",
	"cloudapp.azure.com", "cloudflarestorage.com", "cloudfront.net", "digitaloceanspaces.com", "elb.amazonaws.com", "fastly.net", "fastlylb.net",
	"linodeobjects.com", "myqcloud.com", "oraclecloud.com", "ovh.net", "vultrobjects.com", "wasabisys.com", "windows.net",
}

// generic are the second parts of names such as co.uk.
var generic = []string{"ac", "co", "com", "edu", "firm", "gen", "go", "gob", "gouv", "gov", "govt", "ind", "info", "ltd", "me", "mil", "ne", "net", "nom", "or", "org", "plc", "sch"}

// Domain returns *.NAME for the name above a host, which an answer may be remembered for;
// empty if that would reach names of others: the host has two parts or is an address, or the
// name above it is one that everybody can have a name below. A nil Public offers none.
func (public Public) Domain(host string) string {
	_, parent, ok := strings.Cut(host, ".")
	if _, isAddr := address(host); isAddr || !ok || SpecialName(host) != "" {
		return ""
	}
	if public == nil || public(parent) {
		return ""
	}
	labels := strings.Split(parent, ".")
	if len(labels) < 2 || slices.Contains(labels, "") || slices.Contains(shared, parent) {
		return ""
	}
	if top := labels[len(labels)-1]; len(labels) == 2 && len(top) == 2 && (slices.Contains(generic, labels[0]) || len(labels[0]) <= 2) {
		return "" // co.uk, and what looks like it
	}
	for _, c := range clouds {
		if parent == c || strings.HasSuffix(parent, "."+c) {
			return ""
		}
	}
	return "*." + parent
}
