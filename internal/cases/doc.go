// Package cases keeps docs/cases.md, the table of failures and of the tests that play them, in step with the code.
package cases
