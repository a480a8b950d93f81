package guardian

import (
	"context"
	"os"
	"testing"
)

// BenchmarkStartToDone is a command that ends at once: the cost of the guardian
// on top of fork and exec.
//
//	go test -run ^$ -bench StartToDone ./internal/guardian
func BenchmarkStartToDone(b *testing.B) {
	for b.Loop() {
		now := Now()
		c, err := Start(context.Background(), Spec{Args: []string{"true"}, Soft: now.Add(far), Hard: now.Add(far), Stdout: os.Stderr})
		if err != nil {
			b.Fatal(err)
		}
		c.Wait()
	}
}

// BenchmarkExitToDone is from the end of a command to the moment when the lease
// may be released.
//
//	go test -run ^$ -bench ExitToDone ./internal/guardian
func BenchmarkExitToDone(b *testing.B) {
	var spent int64
	for b.Loop() {
		r, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		now := Now()
		c, err := Start(context.Background(), Spec{Args: []string{"sh", "-c", "exec 1<&0; read x"}, Stdin: r, Soft: now.Add(far), Hard: now.Add(far), Stdout: os.Stderr})
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
		before := Now()
		w.Close()
		c.Wait()
		spent += int64(Now() - before)
	}
	b.ReportMetric(float64(spent)/float64(b.N)/1e6, "ms/end")
}
