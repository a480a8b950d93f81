package memory_test

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/backend/memory"
)

// Two clients of one server see the same records.
func Example() {
	server := memory.NewServer()
	one, two := server.Client(), server.Client()
	defer one.Close()
	defer two.Close()
	if err := one.Raise(context.Background(), "report", 41); err != nil {
		fmt.Println(err)
	}
	record, err := two.Get(context.Background(), "report")
	fmt.Println(record.Counter, err)
	// Output: 41 <nil>
}
