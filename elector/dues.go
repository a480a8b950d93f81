package elector

// dues orders members by the time at which their machines want a tick: a heap, so that thousands of elections cost a loop no search.
type dues []*member

// set gives a member its time, or with ok false takes it out.
func (d *dues) set(m *member, due int64, ok bool) {
	switch {
	case m.duePlace < 0 && !ok:
	case m.duePlace < 0:
		m.due, m.duePlace = due, int32(len(*d))
		*d = append(*d, m)
		d.up(int(m.duePlace))
	case !ok:
		d.remove(m)
	case due != m.due:
		m.due = due
		d.down(int(m.duePlace))
		d.up(int(m.duePlace))
	}
}

// next is the earliest time.
func (d *dues) next() (due int64, ok bool) {
	if len(*d) == 0 {
		return 0, false
	}
	return (*d)[0].due, true
}

// pop appends the members whose time has come to ready and takes them out.
func (d *dues) pop(now int64, ready []*member) []*member {
	for len(*d) > 0 && (*d)[0].due <= now {
		m := (*d)[0]
		d.remove(m)
		ready = append(ready, m)
	}
	return ready
}

func (d *dues) remove(m *member) {
	last := len(*d) - 1
	i := int(m.duePlace)
	d.swap(i, last)
	*d = (*d)[:last]
	m.duePlace = -1
	if i < last {
		d.down(i)
		d.up(i)
	}
}

func (d *dues) swap(i, j int) {
	h := *d
	h[i], h[j] = h[j], h[i]
	h[i].duePlace, h[j].duePlace = int32(i), int32(j)
}

func (d *dues) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if (*d)[parent].due <= (*d)[i].due {
			return
		}
		d.swap(i, parent)
		i = parent
	}
}

func (d *dues) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(*d) {
			return
		}
		if right := child + 1; right < len(*d) && (*d)[right].due < (*d)[child].due {
			child = right
		}
		if (*d)[i].due <= (*d)[child].due {
			return
		}
		d.swap(i, child)
		i = child
	}
}
