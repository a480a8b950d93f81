// Package gocron lets go-co-op/gocron (v2) run each tick on one of several servers, by its own interfaces: Locker, one lease for each job, or Elector, one leader for all jobs.
//
// The package has the name of what it adapts, so give one of them another:
//
//	import (
//		"github.com/go-co-op/gocron/v2"
//		tenure "github.com/tenure-go/tenure/adapter/gocron"
//	)
//
//	locker, err := tenure.NewLocker(elector.GateConfig{Elector: elector.Config{Store: store, Election: "jobs"}, AtLeast: 30 * time.Second})
//	…
//	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	…
//	_, err = s.NewJob(gocron.CronJob("0 2 * * *", false), gocron.NewTask(locker.Task("report", report)), gocron.WithName("report"))
//
// # Loss
//
// gocron takes its lock before a task and gives it back afterwards; in between it has no way to tell the task that the lease is lost. Task is that way: the context that it gives to the work ends then, with the cause, and carries
// the fencing token. A task that is not made by Task runs on beside another server's.
//
// Task refuses to work without a lease: when its job has another name than it was told, when gocron was given no Locker or Elector, or when it has both, where it asks the Elector alone.
//
// # At the end
//
// Shut the scheduler down first, which ends its jobs, then close the Locker or end the Elector's Run.
package gocron
