package postgres

import "strings"

// Text columns hold every character but the zero byte, which a name may have.
var (
	encoder = strings.NewReplacer(`\`, `\\`, "\x00", `\0`)
	decoder = strings.NewReplacer(`\\`, `\`, `\0`, "\x00")
)

// encode maps names one to one to texts that a column can hold; all but a few names stay as they are.
func encode(name string) string { return encoder.Replace(name) }

// decode reads what encode made.
func decode(text string) string { return decoder.Replace(text) }
