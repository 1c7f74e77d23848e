// Package web has the tool http_request: one request to one URL.
//
// Three ideas carry it.
//
// What is judged is what is sent. A URL is brought into one form (host in ASCII and lower
// case, addresses in their usual spelling, dot segments resolved, no user name, no
// fragment), and that form is judged, shown, and sent.
//
// A name is not an address. Which hosts may be talked to is the business of a
// [hosts.Policy]; which addresses may be, is decided here: those of this machine, of
// private networks, of the link and of a cloud's metadata service are refused in every
// mode unless config names them, whatever name leads there. A name is looked up once, when
// the request is sent; every address that comes back is checked, and one of those is
// dialled. Nothing is looked up before the call is answered: a look-up tells others.
//
// A redirect is another request. It is never followed: the result says where it leads, and
// whoever wants to go there makes a call that is judged like any other. Where the host is
// listed in config this asks nobody; where it is not, somebody should be asked.
//
// Proxies of the environment are not used: they would choose the address.
package web
