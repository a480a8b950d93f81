package sim

// eventKind says what an event of the simulation does; see run.handle.
type eventKind uint8

const (
	evTick        eventKind = iota // a member's timer
	evTimeout                      // a request's time is over for its sender
	evArrive                       // a request reaches its server
	evReply                        // a reply reaches its sender
	evWatchOpened                  // n is the watch
	evWoken
	evWatchClosed
	evWant
	evLook     // the work looks whether it may go on
	evWrite    // the work writes, after its look
	evAdmit    // a write reaches the guards
	evReturned // the work returns
	evFinished // the work has nothing left to do
	evPost     // n is a core.EventKind for the member's present term or caller
	evBegin    // of fault n of the plan
	evEnd
	evServer  // the store's own affairs
	evInspect // the checker's look at everything
)

// event is something that happens at a moment of true time.
type event struct {
	at   int64
	seq  uint64 // ties go by the order in which they were scheduled
	kind eventKind
	n    uint64
	m    *member
	r    *request
	w    *write
	late bool // a starved process has let it wait already
}

// queue is a heap of events. It is written out since the one of the standard library allocates for each event.
type queue struct {
	events []event
	seq    uint64
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.events = append(q.events, e)
	i := len(q.events) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !before(&e, &q.events[up]) {
			break
		}
		q.events[i] = q.events[up]
		i = up
	}
	q.events[i] = e
}

func (q *queue) pop() event {
	first := q.events[0]
	n := len(q.events) - 1
	last := q.events[n]
	q.events[n] = event{}
	q.events = q.events[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for child := least + 1; child < min(4*i+5, n); child++ {
			if before(&q.events[child], &q.events[least]) {
				least = child
			}
		}
		if !before(&q.events[least], &last) {
			break
		}
		q.events[i] = q.events[least]
		i = least
	}
	q.events[i] = last
	return first
}

func before(a, b *event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }
