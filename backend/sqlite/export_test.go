package sqlite

// Calls counts the calls under way.
func Calls(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// Polling reports whether the store looks at its file for watchers.
func Polling(s *Store) bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.hub.stop != nil
}

// DropEntries are the statements that drop entries which have run out.
var DropEntries = []string{dropOwn, dropOther}
