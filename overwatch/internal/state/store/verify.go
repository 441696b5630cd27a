package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// This file reads format version 2 of bbolt. A page starts with a header: id (8 bytes), kind (2), number of elements
// (2) and number of overflow pages (4). Elements of 16 bytes follow the header. All pages have the same size. Integers
// have the byte order of the machine.
const (
	pageHeaderSize = 16
	elementSize    = 16
	bucketHeader   = 16 // root page (8 bytes), sequence (8)
	metaSize       = 64
	metaMagic      = 0xED0CDAED
	metaVersion    = 2

	pageBranch   = 0x01
	pageLeaf     = 0x02
	leafIsBucket = 0x01
	noFreelist   = 1<<64 - 1 // replaces a page number

	minPageSize = 1 << 10
	maxPageSize = 1 << 16
	maxDepth    = 24 // maximum depth of a tree, more than any disk can store
)

// errDamaged is wrapped by every finding of verify.
var errDamaged = errors.New("file is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// meta holds the fields of a meta page.
type meta struct {
	pageSize uint32
	root     uint64 // page of the tree of buckets
	freelist uint64 // page of the list of free pages
	end      uint64 // first page number that is not in use
	txid     uint64 // of the last transaction
}

// soundness is the result of verify for a usable file.
type soundness struct {
	txid uint64
	// behind means that one of the two meta pages is damaged, so that the last transaction may be missing.
	behind bool
}

// verify reads a whole database file and returns an error unless bbolt can use it safely. It never panics, reads
// every page at most once, and allocates at most in proportion to the file's size.
func verify(r io.ReaderAt, size int64) (soundness, error) {
	m, behind, err := readMetas(r, size)
	if err != nil {
		return soundness{}, err
	}
	w := walk{r: r, meta: m, seen: make(map[uint64]struct{})}
	c := newCensus()
	err = w.tree(m.root, func(name []byte, flags uint32, value []byte) error {
		if flags&leafIsBucket == 0 {
			return damaged("%q is not a bucket", name)
		}
		c.bucket(string(name))
		return w.bucket(value, func(key []byte, flags uint32, value []byte) error {
			if flags != 0 {
				return damaged("bucket %q has a bucket inside", name)
			}
			return c.count(string(name), key, value)
		})
	})
	if err != nil {
		return soundness{}, err
	}
	return soundness{txid: m.txid, behind: behind}, c.check()
}

// readMetas returns the meta page that bbolt would use: the later meta page with a correct checksum. It must accept
// exactly the meta pages that bbolt accepts. Otherwise verify would check another tree than bbolt uses.
func readMetas(r io.ReaderAt, size int64) (newest meta, behind bool, err error) {
	first, firstOK := readMeta(r, 0)
	second, secondOK := meta{}, false
	if firstOK {
		second, secondOK = readMeta(r, int64(first.pageSize))
	} else {
		for at := int64(minPageSize); at <= maxPageSize && !secondOK; at *= 2 {
			second, secondOK = readMeta(r, at)
			secondOK = secondOK && int64(second.pageSize) == at
		}
	}
	switch {
	case !firstOK && !secondOK:
		return meta{}, false, damaged("no valid meta page")
	case !secondOK || (firstOK && first.txid >= second.txid):
		newest = first
	default:
		newest = second
	}
	if size := newest.pageSize; size < minPageSize || size > maxPageSize || size&(size-1) != 0 ||
		(firstOK && size != first.pageSize) {
		return meta{}, false, damaged("pages of %d octets", size)
	}
	if newest.freelist != noFreelist {
		return meta{}, false,
			damaged("list of free pages on page %d, where bbolt would look for it: no store of ours has one", newest.freelist)
	}
	if newest.end > uint64(size)/uint64(newest.pageSize) {
		return meta{}, false, damaged("%d octets long, should have %d pages of %d", size, newest.end, newest.pageSize)
	}
	return newest, !firstOK || !secondOK, nil
}

func readMeta(r io.ReaderAt, offset int64) (meta, bool) {
	var b [metaSize]byte
	if _, err := r.ReadAt(b[:], offset+pageHeaderSize); err != nil {
		return meta{}, false
	}
	order, sum := binary.NativeEndian, fnv.New64a()
	sum.Write(b[:metaSize-8])
	ok := order.Uint32(b[:]) == metaMagic && order.Uint32(b[4:]) == metaVersion &&
		order.Uint64(b[metaSize-8:]) == sum.Sum64()
	return meta{
		pageSize: order.Uint32(b[8:]), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]),
		end: order.Uint64(b[40:]), txid: order.Uint64(b[48:]),
	}, ok
}

// walk reads trees of pages.
type walk struct {
	r    io.ReaderAt
	meta meta
	seen map[uint64]struct{} // visited pages; each page must belong to a single place
}

// visit receives the elements of leaves in order. key and value are valid only during the call.
type visit func(key []byte, flags uint32, value []byte) error

// bucket walks the tree of a bucket, given its value in the tree of buckets.
func (w *walk) bucket(value []byte, v visit) error {
	if len(value) < bucketHeader {
		return damaged("bucket header of %d octets", len(value))
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.tree(root, v)
	}
	// small buckets are inside their header
	return elements(page{number: 0, octets: value[bucketHeader:]}, keyRange{}, v)
}

func (w *walk) tree(root uint64, v visit) error { return w.pages(root, keyRange{}, maxDepth, v) }

func (w *walk) pages(number uint64, within keyRange, depth int, v visit) error {
	p, err := w.read(number)
	if err != nil {
		return err
	}
	if p.kind() != pageBranch {
		return elements(p, within, v)
	}
	if depth == 0 || p.count() == 0 {
		return damaged("page %d: tree without leaves", number)
	}
	for i := range p.count() {
		key, err := p.branchKey(i)
		if err != nil {
			return err
		}
		if !within.admits(key) {
			return damaged("page %d: keys out of order", number)
		}
		inside := keyRange{min: key, max: within.max}
		if i+1 < p.count() {
			if inside.max, err = p.branchKey(i + 1); err != nil {
				return err
			}
		}
		if err := w.pages(p.child(i), inside, depth-1, v); err != nil {
			return err
		}
		within.min = append(bytes.Clone(key), 0) // the next key must be greater
	}
	return nil
}

// read returns a page with its overflow pages.
func (w *walk) read(number uint64) (page, error) {
	if number < 2 || number >= w.meta.end {
		return page{}, damaged("page %d is outside the file", number)
	}
	pageSize := int64(w.meta.pageSize)
	head := make([]byte, pageSize)
	if _, err := w.r.ReadAt(head, int64(number)*pageSize); err != nil {
		return page{}, damaged("page %d: %v", number, err)
	}
	p := page{number: number, octets: head}
	overflow := uint64(binary.NativeEndian.Uint32(head[12:]))
	if binary.NativeEndian.Uint64(head) != number || number+overflow >= w.meta.end {
		return page{}, damaged("page %d has the header of another", number)
	}
	for n := number; n <= number+overflow; n++ {
		if _, twice := w.seen[n]; twice {
			return page{}, damaged("page %d is in two places", n)
		}
		w.seen[n] = struct{}{}
	}
	if overflow > 0 {
		p.octets = make([]byte, pageSize*int64(overflow+1))
		if _, err := w.r.ReadAt(p.octets, int64(number)*pageSize); err != nil {
			return page{}, damaged("page %d: %v", number, err)
		}
	}
	return p, nil
}

// elements visits the elements of a leaf page.
func elements(p page, within keyRange, v visit) error {
	if len(p.octets) < pageHeaderSize || p.kind() != pageLeaf {
		return damaged("page %d is neither branch nor leaf", p.number)
	}
	for i := range p.count() {
		flags, key, value, err := p.leaf(i)
		if err != nil {
			return err
		}
		if len(key) == 0 || !within.admits(key) {
			return damaged("page %d: keys out of order", p.number)
		}
		if err := v(key, flags, value); err != nil {
			return err
		}
		within.min = append(bytes.Clone(key), 0)
	}
	return nil
}
