// Package explore tries everything that can happen to a few candidates of one election: it runs the elector's own state machine, the one of production, against a store that keeps
// the contract, and follows every order in which messages arrive, are late, lost or sent twice, work returns, processes stop, crash and start again, and time passes. The
// simulation draws long runs with many kinds of fault; here the runs are small and none is left out.
//
// Time goes by in quanta. Within one everything can happen in any order; the next begins when nobody whose process runs has anything due. All that a machine keeps is relative: to the
// present, to other tokens, attempts and requests. So states come again, and the search ends by itself: at its fixpoint.
package explore
