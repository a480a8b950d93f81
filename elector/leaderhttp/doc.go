// Package leaderhttp puts an election behind HTTP: requests for the leader alone, followers that forward to it, and the pages that load balancers and orchestrators ask for.
//
//	var duty elector.Duty
//	var pulse leaderhttp.Pulse
//	e, err := elector.New(elector.Config{Store: store, Election: "settlement", Candidate: candidate, Events: pulse.Event})
//	…
//	site, err := leaderhttp.New(leaderhttp.Config{Elector: e, Duty: &duty, Pulse: &pulse})
//	…
//	go e.Run(ctx, duty.Lead)
//	go site.Run(ctx)
//	mux.Handle("/orders", site.Forward(orders)) // served by the leader, whoever is asked
//	mux.Handle("/leader", site.Leader())        // 200 here, 503 at all others
//	mux.Handle("/healthz", site.Alive())
//	mux.Handle("/readyz", site.Ready())
//
// # Requests for the leader
//
// [Site.LeaderOnly] and [Site.Forward] serve a request here if this process leads at that moment. With a Duty the request's context ends with the term and carries its fencing token, and the lease is released only when the
// requests under way have returned. Without one only the beginning of a request is under the lead.
//
// What a handler writes may still arrive after its lease has ended: show the token to what you write to, see package fence.
//
// # Forwarding
//
// A follower forwards to the leader's Candidate.Address, an http or https URL without credentials, or host:port. It forwards once: a request that was forwarded to a process which doesn't lead is refused there. Bodies,
// streams and WebSockets pass through, and the Host stays. Whoever may write to the store decides where requests go, with all that is in them: protect it accordingly.
//
// A request is not repeated. 503 says that it was not carried out and can be; 502 that it may have been, or that the leader's address is unusable.
//
// # Health
//
// [Site.Alive] is for what restarts a process: it is red when work outlives its lease, or the elector's heart has stopped. [Site.Ready] is for what sends requests: it is red when the store can't be reached. Neither asks who
// leads; a follower is healthy.
package leaderhttp
