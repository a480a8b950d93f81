package all_test

import (
	"fmt"
	"slices"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/all"
)

// With every store registered, the store is a matter of configuration.
func Example() {
	fmt.Println(slices.Contains(backend.Schemes(), "memory"))
	// Output: true
}
