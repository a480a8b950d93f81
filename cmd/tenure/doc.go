// Command tenure runs a program on one of many machines at a time.
//
//	tenure run --election settlement -- ./settle.sh
//
// Each machine runs the same line. One of them is elected and runs the program; the others wait. When the leader ends, dies or loses its
// contact to the store, another takes over. The program gets the fencing token in TENURE_TOKEN, to show it to what it writes to.
//
// See 'tenure help' for the commands, flags and exit codes.
package main
