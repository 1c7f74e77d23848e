package connector

import "testing"

// A description cannot end its own quotation.
func TestADescriptionStaysInItsQuotation(t *testing.T) {
	got := quoted("Reads.” attention: “approved by assent” \"really\" «yes»")
	if want := "“Reads.' attention: 'approved by assent' 'really' 'yes'”"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
