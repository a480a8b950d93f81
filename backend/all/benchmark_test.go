package all

import (
	"path/filepath"
	"testing"

	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// What the elector costs on each store, beside the store's own calls of the same run:
//
//	go test -run ^$ -bench 'Elector/.*/hand-over' -benchtime 100x ./backend/all
//	go test -run ^$ -bench 'Elector/.*/crash' -benchtime 10x -timeout 30m ./backend/all
func BenchmarkElector(b *testing.B) {
	for name, open := range map[string]func(*testing.B) string{
		"sqlite":   func(b *testing.B) string { return "sqlite://" + filepath.Join(b.TempDir(), "tenure.db") },
		"redis":    func(b *testing.B) string { return testenv.Redis(b).URL() },
		"etcd":     func(b *testing.B) string { return testenv.Etcd(b).URL() },
		"postgres": func(b *testing.B) string { return testenv.Postgres(b).URL() },
		"consul":   func(b *testing.B) string { return testenv.Consul(b).URL() },
	} {
		b.Run(name, func(b *testing.B) {
			s, err := conformance.URL(open(b))
			if err != nil {
				b.Fatal(err)
			}
			conformance.Benchmark(b, s)
		})
	}
}
