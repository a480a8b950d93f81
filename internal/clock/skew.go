package clock

import (
	"fmt"
	"time"
)

// maxSkew is how far a server's clock may be from ours before a warning: clocks that are kept by NTP stay far below.
const maxSkew = time.Second

// SkewWarning compares a server's clock with ours, which was read before and after. It returns no text or one, for a store's Warnings.
func SkewWarning(theirs, before, after time.Time) []string {
	skew := max(before.Sub(theirs), theirs.Sub(after))
	if skew <= maxSkew {
		return nil
	}
	return []string{fmt.Sprintf("The clocks of the server and of this host are %v apart: let both follow NTP, since tokens rest on the server's clock when data is lost.",
		skew.Round(time.Millisecond))}
}
