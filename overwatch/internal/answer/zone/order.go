package zone

// maxKey bounds the octets of a name's sort key: an octet of a label takes at most two.
const maxKey = 2 * maxName

// maxLabels bounds the labels of a name.
const maxLabels = (maxName - 1) / 2

// appendKey appends a name's sort key: keys that are compared octet by octet have the canonical order of names (RFC
// 4034 section 6.1). A key is the labels from the root down, each closed by 0. The octets 0 and 1 become 1 and the
// octet plus 1, so that no label has a 0 inside. name is in wire form and lower case.
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
