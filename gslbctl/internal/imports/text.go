package imports

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// serial matches the serial of an SOA record in a zone file: the number after the two names. White space, parentheses
// and comments may precede it.
var serial = regexp.MustCompile(`(?i)(\sSOA\s+[^\s;()"]+\s+[^\s;()"]+(?:[\s(]|;[^\n]*\n)+)(\d{10,})`)

// ShortSerial replaces serials above 32 bits by 1 in the text of a zone file. Nodes generate their own serials, so no
// answer contains the 1.
func ShortSerial(text string) string {
	return serial.ReplaceAllStringFunc(text, func(soa string) string {
		m := serial.FindStringSubmatch(soa)
		if _, err := strconv.ParseUint(m[2], 10, 32); err == nil {
			return soa
		}
		return m[1] + "1"
	})
}

// TextFile is a file in memory. It implements fs.File for the DNS library, which only reads and closes it.
type TextFile struct{ *strings.Reader }

// Stat implements fs.File. It fails.
func (TextFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// Close implements fs.File.
func (TextFile) Close() error { return nil }
