package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/fence"
)

// A leader of an earlier term wakes up late: its write is refused, since the new term has sealed the guard.
func Example() {
	var guard fence.Memory
	ctx := context.Background()
	old := fence.Token{Value: 7, Attempt: fence.Attempt{1}}
	current := fence.Token{Value: 8, Attempt: fence.Attempt{2}}
	balance := 100

	_ = guard.Seal(ctx, "settlement", old)
	_ = guard.Seal(ctx, "settlement", current) // the new term begins; it has not written yet

	err := guard.Do(ctx, "settlement", old, func() error { balance -= 30; return nil })
	fmt.Println(errors.Is(err, fence.ErrStale), balance)
	// Output: true 100
}
