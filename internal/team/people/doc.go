// Package people has the pages and the API of 'assent serve' for people: the inbox of a team in a browser. A person who
// is signed in can read and deny. An approval is a signed statement. This package checks it so that the person learns at
// once what is wrong. The gate that asked checks it again, with its own request, view and bundle.
package people
