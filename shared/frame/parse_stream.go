package frame

// ParseStream reads the one message of a decrypted stream; nothing may stand behind it.
func ParseStream(plain []byte) (Stream, Fault) {
	if len(plain) == 0 {
		return Stream{}, Malformed
	}
	s := Stream{Kind: Kind(plain[0])}
	c := cursor{rest: plain[1:]}
	switch s.Kind {
	case Ping:
		pingRecord.read(&c)
	case Ack:
		ackRecord.read(&c)
	case Error:
		errorRecord.read(&c)
	case User:
		v := userHeaderRecord.read(&c)
		s.User = c.take(int(v[0].integer))
		if len(s.User) == 0 {
			c.fail()
		}
	case PushPull:
		s.Listening, s.Announced = readPushPull(&c)
	default:
		c.fail()
	}
	if c.failed || len(c.rest) != 0 {
		return Stream{}, Malformed
	}
	return s, None
}

// readPushPull reads the header, the states of the nodes it announces and the user state. It reports whether one of the
// nodes has a port, and the name of the first.
func readPushPull(c *cursor) (listening bool, first string) {
	header := pushPullRecord.read(c)
	for range header[0].integer {
		v := stateRecord.read(c)
		if len(v[6].octets) != versions || !addressLength(v[1].octets) || v[5].integer != 0 && v[4].integer > maxAccused {
			c.fail()
		}
		if c.failed {
			return false, ""
		}
		if first == "" {
			first = string(v[0].octets)
		}
		listening = listening || v[2].integer != 0
	}
	c.take(int(header[1].integer))
	return listening, first
}
