package config

import "fmt"

// DidYouMean returns "; did you mean …?" for a known word that is close enough to have been
// meant, else nothing.
func DidYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// nearest returns the known word that is closest to the given one, if one is close enough
// to have been meant.
func nearest(word string, known []string) string {
	best, bestDistance := "", len(word)/3+2
	for _, k := range known {
		if d := distance(word, k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace to make a of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
