package zone

// maxKey is the largest length of a sort key in octets: an octet of a label takes at most two.
const maxKey = 2 * maxName

// maxLabels is the largest number of labels of a name.
const maxLabels = (maxName - 1) / 2

// appendKey appends the sort key of a name. The byte order of keys is the canonical order of names (RFC 4034 section
// 6.1). A key contains the labels from the root down, each terminated by 0. The octets 0 and 1 are escaped as 1
// followed by the octet plus 1, so that labels contain no 0. name is in wire form and lower case.
func appendKey(to, name []byte) []byte {
	var starts [maxLabels + 1]uint8
	n := 0
	for at := 0; name[at] != 0; at += int(name[at]) + 1 {
		starts[n] = uint8(at)
		n++
	}
	for n--; n >= 0; n-- {
		label := name[starts[n]:]
		for _, c := range label[1 : 1+label[0]] {
			if c <= 1 {
				to = append(to, 1)
				c++
			}
			to = append(to, c)
		}
		to = append(to, 0)
	}
	return to
}
