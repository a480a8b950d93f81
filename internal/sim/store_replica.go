package sim

// replicated is a primary whose replica is behind and may be promoted: Redis with Sentinel, Postgres with an asynchronous standby. What the replica had not
// got is lost, though it was acknowledged.
type replicated struct{ linear }

func (l *replicated) strike(o *Occurrence) {
	s := l.s
	if o.Kind != Promotion {
		l.linear.strike(o)
		return
	}
	s.w.hit(Promotion)
	age := o.Arg
	if s.has(ReplicaLag) {
		s.w.hit(ReplicaLag)
		age += s.w.now - s.since[ReplicaLag]
	}
	s.goBack(age)
	s.dropWatches()
}
