// Package people is the side of 'assent serve' that people see: the inbox of a team in a browser, and the API under
// it. Who is signed in can read and deny. A yes is a signed statement: this package checks it so that the person hears
// at once what is wrong, and the gate that asked checks it again, with its own request, view and bundle.
package people
