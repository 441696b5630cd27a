package settings

// class says what an octet may mean; the scanner passes over those that mean nothing where they stand.
type class uint8

const (
	refused     class = 1 << iota // a control character, a tab, a line break other than \n
	beyondASCII                   // of a character of several octets
	noStart                       // no plain scalar of the core begins with it
	inBlock                       // may end a plain scalar in a block collection
	inFlow                        // may end a plain scalar in a flow collection, or may not stand there
	inQuotes                      // may end a quoted scalar, or may not stand there
)

// classes has the classes of each octet.
var classes = func() (of [256]class) {
	for c := range of {
		if c < ' ' && c != '\n' || c == 0x7f {
			of[c] |= refused
		}
		if c >= 0x80 {
			of[c] |= beyondASCII
		}
	}
	for _, set := range []struct {
		octets string
		class  class
	}{
		{"\n ?:,[]{}#&*!|>'\"%@`", noStart}, {"\n:#", inBlock}, {"\n,]}#[{?:", inFlow}, {"\n\\'\"", inQuotes},
	} {
		for _, c := range []byte(set.octets) {
			of[c] |= set.class
		}
	}
	return of
}()

// pass moves to the next octet of a class, or to the end of the text.
func (s *scanner) pass(until class) {
	text, i := s.text, s.pos
	for i < len(text) && classes[text[i]]&until == 0 {
		i++
	}
	s.pos = i
}
