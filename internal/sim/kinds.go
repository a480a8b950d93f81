package sim

import "time"

// Kind is a kind of fault.
type Kind uint8

// Kinds of faults. What each does stands in specs.
const (
	RequestLost Kind = iota
	ReplyLost
	Duplicated
	Reordered
	LateRequests
	LateWrites
	HalfOpen
	Partition
	StoreCut
	GuardsCut
	AsymmetricLoss
	Swizzled
	SlowLink
	Refused
	NoDNS
	TLSFails
	PoolExhausted
	Denied
	Garbled
	CutAtGrant

	Paused
	PauseAtWrite
	Suspended
	Crashed
	CrashedSameID
	Starved
	Stutter
	Deployed
	Herd
	Closed
	Leaves

	RateTurned
	RateBeyond
	WallForward
	WallBack
	WallStrobe
	NoBootClock

	StoreDown
	Stalled
	SlowDisk
	DiskFull
	StaleReads
	Overwritten
	StoreRateTurned
	StoreClockSet
	LeaderChange
	StaleLeader
	Promotion
	ReplicaLag
	Restored
	Forgets
	SessionKilled
	LongSession
	Raised
	LeaderDeleted
	FreeDeleted
	LongerGrant
	OldAnchor

	WakeLost
	WakeTwice
	WakeLate
	WakeFlood
	WatchCloses
	WatchDeaf
	WatchRefused

	SlowStop
	Stuck
	Panics
	ReturnsEarly
	WorkFails
	ResignInRenewal
	StopInAcquire
	HandedOver
	KeptFree

	MixedTTL
	MixedInterval
	Cooldown
	Beside
	Tries
	Serves

	kinds
)

// String returns the kind's name.
func (k Kind) String() string { return specs[k].name }

// place is what a fault befalls.
type place uint8

const (
	aProcess place = iota
	theStore
	everybody // all processes
)

// feature is what a world must have for a kind to make sense in it.
type feature uint16

const (
	onWall feature = 1 << iota
	isReplicated
	isRaft
	hasSessions
	hasOperator
	isRestored
	isForgetful
	isDrifting
)

// spec describes a kind of fault.
type spec struct {
	name  string
	text  string // for traces, with the place before it
	where place
	long  [2]time.Duration // how long it lasts; zero: it happens at once
	arg   [2]time.Duration // its measure: a time, or a number
	sign  bool             // the measure may be negative
	whole bool             // it is there from the beginning to the end
	needs feature
}

const (
	ms = time.Millisecond
	s  = time.Second
)

var specs = [kinds]spec{
	RequestLost:    {name: "request lost", text: "loses its requests to the store", long: [2]time.Duration{50 * ms, 4 * s}},
	ReplyLost:      {name: "reply lost", text: "gets no replies from the store", long: [2]time.Duration{50 * ms, 6 * s}},
	Duplicated:     {name: "request duplicated", text: "sends each request twice", long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{ms, 12 * s}},
	Reordered:      {name: "replies reordered", text: "gets its replies out of order", long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{50 * ms, 3 * s}},
	LateRequests:   {name: "request delayed past the TTL", text: "has its requests held up on their way", long: [2]time.Duration{100 * ms, 5 * s}, arg: [2]time.Duration{s, 15 * s}},
	LateWrites:     {name: "write delayed past the TTL", text: "has its writes to guards held up", long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{s, 15 * s}},
	HalfOpen:       {name: "half-open connection", text: "talks to a connection that nobody answers", long: [2]time.Duration{s, 15 * s}},
	Partition:      {name: "partition", text: "is cut off from everything", long: [2]time.Duration{500 * ms, 15 * s}},
	StoreCut:       {name: "partial partition: store", text: "is cut off from the store alone", long: [2]time.Duration{500 * ms, 15 * s}},
	GuardsCut:      {name: "partial partition: guards", text: "is cut off from the guards alone", long: [2]time.Duration{500 * ms, 20 * s}},
	AsymmetricLoss: {name: "asymmetric loss", text: "loses every other request", long: [2]time.Duration{s, 30 * s}},
	Swizzled:       {name: "swizzled link", text: "is cut off, as all are, one by one", long: [2]time.Duration{500 * ms, 8 * s}},
	SlowLink:       {name: "slow link", text: "has a slow link", long: [2]time.Duration{s, 30 * s}, arg: [2]time.Duration{20 * ms, 700 * ms}},
	Refused:        {name: "connection refused (EMFILE)", text: "can't open connections", long: [2]time.Duration{100 * ms, 10 * s}},
	NoDNS:          {name: "DNS empty", text: "finds no address of the store", long: [2]time.Duration{100 * ms, 10 * s}},
	TLSFails:       {name: "TLS handshake fails", text: "can't shake hands with the store", long: [2]time.Duration{100 * ms, 10 * s}},
	PoolExhausted:  {name: "pool exhausted", text: "waits for a free connection", long: [2]time.Duration{500 * ms, 10 * s}},
	Denied:         {name: "credentials expired", text: "is denied access to the store", long: [2]time.Duration{500 * ms, 12 * s}},
	Garbled:        {name: "another request's reply", text: "gets replies that belong to others", long: [2]time.Duration{500 * ms, 6 * s}},
	CutAtGrant:     {name: "cut off at the moment of a grant", text: "will be cut off as soon as it is granted something", long: [2]time.Duration{5 * s, 60 * s}, arg: [2]time.Duration{500 * ms, 20 * s}},

	Paused:        {name: "pause (SIGSTOP)", text: "is stopped", long: [2]time.Duration{50 * ms, 15 * s}},
	PauseAtWrite:  {name: "pause between look and write", text: "freezes when it is about to write", long: [2]time.Duration{s, 3 * s}, arg: [2]time.Duration{3 * s, 15 * s}},
	Suspended:     {name: "suspend", text: "is suspended: the monotonic clock stands still", long: [2]time.Duration{100 * ms, 20 * s}},
	Crashed:       {name: "crash, new process", text: "crashes", arg: [2]time.Duration{0, 10 * s}},
	CrashedSameID: {name: "crash, same candidate ID", text: "crashes and comes back under its old ID", arg: [2]time.Duration{0, 6 * s}},
	Starved:       {name: "CPU starvation", text: "gets too little of the processor", long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{10 * ms, 900 * ms}},
	Stutter:       {name: "short pauses", text: "stutters", long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{20 * ms, 700 * ms}},
	Deployed:      {name: "stop and run again", text: "is told to stop, and runs again"},
	Herd:          {name: "all start at once", text: "everybody crashes and starts again at once", where: everybody},
	Closed:        {name: "closed", text: "closes its elector and ends"},
	Leaves:        {name: "leaves for a while", text: "doesn't want to lead for a while", long: [2]time.Duration{s, 60 * s}},

	RateTurned:  {name: "clock rate within the budget", text: "has its clock rate changed", arg: [2]time.Duration{0, 1900}, sign: true},
	RateBeyond:  {name: "clock rate beyond the budget", text: "has a clock that is far too fast or slow", arg: [2]time.Duration{50_000, 500_000}, sign: true, needs: isDrifting},
	WallForward: {name: "wall clock forward", text: "has its wall clock set forward", arg: [2]time.Duration{10 * ms, 280 * s}},
	WallBack:    {name: "wall clock back", text: "has its wall clock set back", arg: [2]time.Duration{10 * ms, 280 * s}},
	WallStrobe:  {name: "wall clock strobe", text: "has its wall clock set to and fro", long: [2]time.Duration{s, 30 * s}, arg: [2]time.Duration{4 * ms, 250 * s}},
	NoBootClock: {name: "no boot clock", text: "has no clock that counts suspend", whole: true},

	StoreDown:       {name: "store restarts", text: "is down", where: theStore, long: [2]time.Duration{100 * ms, 12 * s}},
	Stalled:         {name: "store hangs", text: "hangs, and then does everything at once", where: theStore, long: [2]time.Duration{100 * ms, 8 * s}, arg: [2]time.Duration{100 * ms, 8 * s}},
	SlowDisk:        {name: "slow disk", text: "has a slow disk", where: theStore, long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{20 * ms, 1500 * ms}},
	DiskFull:        {name: "disk full", text: "has no space: grants and releases fail", where: theStore, long: [2]time.Duration{s, 20 * s}},
	StaleReads:      {name: "stale reads", text: "answers reads from the past", where: theStore, long: [2]time.Duration{s, 20 * s}, arg: [2]time.Duration{10 * ms, 8 * s}},
	Overwritten:     {name: "foreign value", text: "has a foreign value in the election's place", where: theStore, long: [2]time.Duration{500 * ms, 12 * s}},
	StoreRateTurned: {name: "store's clock rate within the budget", text: "has its clock rate changed", where: theStore, arg: [2]time.Duration{0, 1900}, sign: true},
	StoreClockSet:   {name: "store's wall clock set", text: "has its wall clock set", where: theStore, arg: [2]time.Duration{10 * ms, 250 * ms}, sign: true, needs: onWall},
	LeaderChange:    {name: "leader change, TTLs begin anew", text: "elects another leader", where: theStore, long: [2]time.Duration{200 * ms, 4 * s}, needs: isRaft},
	StaleLeader:     {name: "stale leader answers", text: "is connected to a store member that leads no more", long: [2]time.Duration{s, 15 * s}, needs: isRaft},
	Promotion:       {name: "replica promoted", text: "promotes a replica that is behind", where: theStore, long: [2]time.Duration{100 * ms, 2 * s}, arg: [2]time.Duration{20 * ms, 12 * s}, needs: isReplicated},
	ReplicaLag:      {name: "replica lags", text: "has a replica that falls behind", where: theStore, long: [2]time.Duration{2 * s, 30 * s}, needs: isReplicated},
	Restored:        {name: "restored from a backup", text: "is restored from a backup", where: theStore, arg: [2]time.Duration{10 * s, 120 * s}, needs: isRestored},
	Forgets:         {name: "store forgets everything", text: "forgets all that it knew", where: theStore, needs: isForgetful},
	SessionKilled:   {name: "session killed", text: "loses the leader's session", where: theStore, needs: hasSessions},
	LongSession:     {name: "session lives for two TTLs", text: "ends sessions late", where: theStore, long: [2]time.Duration{5 * s, 60 * s}, needs: hasSessions},
	Raised:          {name: "counter raised", text: "has its counter raised", where: theStore, arg: [2]time.Duration{1, 1 << 40}},
	LeaderDeleted:   {name: "operator deletes the leader's record", text: "loses the leader's record to an operator", where: theStore, needs: hasOperator},
	FreeDeleted:     {name: "operator deletes a free record", text: "loses free records to an operator", where: theStore, long: [2]time.Duration{10 * s, 120 * s}},
	LongerGrant:     {name: "longer lease than asked", text: "grants more than was asked", where: theStore, long: [2]time.Duration{5 * s, 60 * s}, arg: [2]time.Duration{100 * ms, 6 * s}},
	OldAnchor:       {name: "lease refreshed before the call", text: "binds leases to what was refreshed before", where: theStore, long: [2]time.Duration{5 * s, 90 * s}, arg: [2]time.Duration{100 * ms, 1200 * ms}, needs: isRaft},

	WakeLost:     {name: "wake-up lost", text: "is not told of changes", long: [2]time.Duration{s, 60 * s}},
	WakeTwice:    {name: "wake-up repeated", text: "is told of changes twice", long: [2]time.Duration{5 * s, 60 * s}},
	WakeLate:     {name: "wake-up late", text: "is told of changes late", long: [2]time.Duration{5 * s, 60 * s}, arg: [2]time.Duration{50 * ms, 8 * s}},
	WakeFlood:    {name: "flood of wake-ups", text: "is woken for nothing again and again", long: [2]time.Duration{s, 15 * s}},
	WatchCloses:  {name: "watch ends (compaction, reset)", text: "loses its watch"},
	WatchDeaf:    {name: "watch deaf (pooler)", text: "has a watch that hears nothing", long: [2]time.Duration{5 * s, 120 * s}},
	WatchRefused: {name: "watch refused", text: "can't open a watch", long: [2]time.Duration{s, 30 * s}},

	SlowStop:        {name: "work slow to stop", text: "has work that is slow to stop", long: [2]time.Duration{5 * s, 60 * s}, arg: [2]time.Duration{s, 20 * s}},
	Stuck:           {name: "work ignores its end", text: "has work that ignores its end", long: [2]time.Duration{5 * s, 60 * s}, arg: [2]time.Duration{35 * s, 60 * s}},
	Panics:          {name: "work panics", text: "has work that panics", long: [2]time.Duration{s, 5 * s}},
	ReturnsEarly:    {name: "work returns by itself", text: "has work that returns by itself", long: [2]time.Duration{s, 8 * s}},
	WorkFails:       {name: "work fails", text: "has work that returns an error", long: [2]time.Duration{s, 8 * s}},
	ResignInRenewal: {name: "resign during a renewal", text: "resigns while it renews", long: [2]time.Duration{s, 8 * s}},
	StopInAcquire:   {name: "stop during an acquire", text: "is stopped while it acquires", long: [2]time.Duration{s, 30 * s}},
	HandedOver:      {name: "handed over to a named successor", text: "hands over to another, who may be gone"},
	KeptFree:        {name: "resigned, kept free for a while", text: "resigns and keeps the election free", arg: [2]time.Duration{100 * ms, 10 * s}},

	MixedTTL:      {name: "another TTL than the others", text: "has another TTL than the others", arg: [2]time.Duration{3, 8}, whole: true},
	MixedInterval: {name: "another heartbeat than the others", text: "renews more often than the others", whole: true},
	Cooldown:      {name: "cooldown", text: "stays away for a while after a loss", arg: [2]time.Duration{100 * ms, 8 * s}, whole: true},
	Beside:        {name: "caller of Campaign", text: "works beside its term", whole: true},
	Tries:         {name: "caller of TryCampaign", text: "only tries now and then", whole: true},
	Serves:        {name: "member of a group", text: "goes on after its work has failed or resigned", whole: true},
}
