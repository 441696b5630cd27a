package config

import "fmt"

// maxCautions bounds the warnings of one kind: a file may cause 100 000.
const maxCautions = 50

// cautions collects warnings.
type cautions struct {
	told []string
	more int
}

func (c *cautions) warn(format string, args ...any) {
	if len(c.told) == maxCautions {
		c.more++
		return
	}
	c.told = append(c.told, fmt.Sprintf(format, args...))
}

func (c *cautions) all() []string {
	if c.more > 0 {
		return append(c.told, fmt.Sprintf("and %d warnings more", c.more))
	}
	return c.told
}
