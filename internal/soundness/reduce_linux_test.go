package soundness

// reduced cuts pieces out of a text as long as what is left is still wrong.
func reduced(text string, wrong func(string) bool) string {
	runes := []rune(text)
	for size := len(runes) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(runes); {
			shorter := append(append([]rune{}, runes[:at]...), runes[at+size:]...)
			if wrong(string(shorter)) {
				runes = shorter
				continue
			}
			at += max(1, size/2)
		}
	}
	return string(runes)
}
