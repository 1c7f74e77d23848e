package network

import "golang.org/x/net/publicsuffix"

// Public reports whether everybody can have a name below a domain, by the public list of them.
func Public(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}
