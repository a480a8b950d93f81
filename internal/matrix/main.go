// Command matrix prints a table of backends and guarantees from the reports of conformance tests, and checks or renews the copy of it in the README.
//
//	matrix FOLDER                 print the table
//	matrix -check README FOLDER   fail when the README's copy differs
//	matrix -write README FOLDER   put the table into the README
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	check := flag.String("check", "", "a file whose table must be the same")
	write := flag.String("write", "", "a file to put the table into")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "matrix: give the folder of the reports")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check, *write); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(folder, check, write string) error {
	reports, err := read(folder)
	if err != nil {
		return err
	}
	t, err := newTable(reports)
	if err != nil {
		return err
	}
	fmt.Fprint(os.Stdout, t.text())
	for _, problem := range t.violations() {
		err = fmt.Errorf("%s", problem)
		fmt.Fprintln(os.Stdout, problem)
	}
	switch {
	case err != nil:
		return err
	case check != "":
		return t.check(check)
	case write != "":
		return t.write(write)
	}
	return nil
}
