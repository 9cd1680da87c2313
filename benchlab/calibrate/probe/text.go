package probe

import (
	"math/rand/v2"
	"strings"
)

// words are common and short, so that most tokenisers make one token of each; how
// many they make is measured, not assumed.
const words = "and the for you are not but can all her was one our out day get has him his how " +
	"man new now old see two way who boy did its let put say she too use dad run sun sky sea air"

// text returns count words that follow from salt and number; any two differ from
// the first few words on.
func text(salt, number uint64, count int) string {
	list := strings.Fields(words)
	r := rand.New(rand.NewPCG(salt, number))
	var b strings.Builder
	for i := range max(1, count) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(list[r.IntN(len(list))])
	}
	return b.String()
}
