package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
)

// Unreached says that a call did not reach a server, and what to do. It leaves out the method and the address of the
// call, which tell a person nothing. CA is how this program is told about an authority of certificates.
func Unreached(host, ca string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err
	}
	next := "check the address, and that 'assent serve' runs there"
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		next = "if the team has its own certificate authority, " + ca
	}
	return fmt.Errorf("%s cannot be reached: %w; %s", host, err, next)
}
