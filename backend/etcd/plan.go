package etcd

import "slices"

// plan gives each lease of a batch the carrier that it is on, if that may be refreshed: if all terms which are or may be on it are in this batch. Terms that are alone on their
// carrier move together to share one, so that many leases take few requests. What has no carrier after that boards another one.
func (f *fleet) plan(ttl int64, items []*item) (refresh []*carrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := map[*term]*item{}
	for _, it := range items {
		if t := f.terms[keyOf(it.lease)]; t != nil && t.holder == it.lease.Holder && t.token == it.lease.Token {
			it.term, it.retime = t, t.ttl != ttl
			if !it.retime {
				batch[t] = it
			}
		}
	}
	for t, it := range batch {
		for _, c := range t.on {
			if c.ttl == ttl && !slices.Contains(refresh, c) && f.complete(c, batch) {
				it.to = c
				c.busy = true
				refresh = append(refresh, c)
			}
		}
	}
	for _, c := range refresh {
		for t := range c.terms {
			if batch[t].to == nil {
				batch[t].to = c
			}
		}
	}
	refresh = f.gather(refresh, batch)
	for t, it := range batch {
		for _, c := range t.on {
			if !slices.Contains(refresh, c) {
				it.on = nil
				break
			}
			it.on = append(it.on, c)
		}
	}
	return refresh
}

// complete reports whether a batch has every term of c.
func (f *fleet) complete(c *carrier, batch map[*term]*item) bool {
	if c.busy || c.unclear {
		return false
	}
	for t := range c.terms {
		if batch[t] == nil {
			return false
		}
	}
	return true
}

// gather moves the terms of carriers with a single one to those which have room. It returns the carriers that are still used.
func (f *fleet) gather(refresh []*carrier, batch map[*term]*item) []*carrier {
	if f.full || len(refresh) < 2 {
		return refresh
	}
	slices.SortFunc(refresh, func(a, b *carrier) int { return len(b.terms) - len(a.terms) })
	into := 0
	for last := len(refresh) - 1; last > into; last-- {
		c := refresh[last]
		if len(c.terms) != 1 {
			break
		}
		for into < last && len(refresh[into].terms) >= carrierTerms {
			into++
		}
		if into == last {
			break
		}
		for t := range c.terms {
			it := batch[t]
			it.to = refresh[into]
			f.join(t, refresh[into])
		}
		c.busy = false
		refresh = refresh[:last]
	}
	return refresh
}

// join notes that t may be on c; callers hold mu.
func (f *fleet) join(t *term, c *carrier) {
	if !c.terms[t] {
		t.on, c.terms[t] = append(t.on, c), true
	}
}

func (f *fleet) bind(it *item, c *carrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if it.term != nil {
		f.join(it.term, c)
	} else {
		c.guests++
	}
}

func (f *fleet) size(c *carrier) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(c.terms) + c.guests
}

// claim keeps other batches from using c.
func (f *fleet) claim(c *carrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.busy = true
}

// unclaim ends that, and reports whether c carries nothing.
func (f *fleet) unclaim(c *carrier) (empty bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.busy = false
	return len(c.terms) == 0 && !c.unclear
}

// doubt notes that a term may be moved to c later, by a transaction of unknown outcome which compares the mod revision rev. A guest's transaction leaves c unusable, since
// nobody knows when its term ends.
func (f *fleet) doubt(it *item, c *carrier, rev int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if it.term != nil {
		it.term.pending = rev
	} else {
		c.unclear = true
	}
}

// setFull notes whether the server refuses writes: then nothing is moved that needn't be.
func (f *fleet) setFull(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}
