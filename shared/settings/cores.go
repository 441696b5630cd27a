package settings

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// perChunk is how many elements of a long list are read in one go: some 100 microseconds' worth.
const perChunk = 512

// chunk is a part of a list: where it begins among the nodes and among the elements, how many elements it has, and, once it is
// read, what was found in it.
type chunk struct {
	node, at, count int
	problems        Problems
	more            int
	secret          Problem
}

// chunks divides the sequence at node i, which has count elements, the first of which is to be element at of a list.
func (d *decoder) chunks(i, at, count int) []chunk {
	chunks := make([]chunk, 0, (count+d.perChunk-1)/d.perChunk)
	k := i + 1
	for n := range count {
		if n%d.perChunk == 0 {
			chunks = append(chunks, chunk{node: k, at: at + n, count: min(d.perChunk, count-n)})
		}
		k = d.document.next(k)
	}
	return chunks
}

// onCores reads the chunks of a list into v, which has room for their elements, on several cores. What it leaves in d is what reading
// them in turn would leave.
func (d *decoder) onCores(v reflect.Value, chunks []chunk) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(d.cores, len(chunks)) {
		wait.Go(func() {
			one := d.fork()
			element := one.schema.of(v.Type().Elem())
			for c := int(next.Add(1)) - 1; c < len(chunks); c = int(next.Add(1)) - 1 {
				one.chunk(element, v, &chunks[c])
			}
		})
	}
	wait.Wait()
	for _, c := range chunks {
		for _, p := range c.problems {
			d.report.append(p)
		}
		d.report.more += c.more
		if d.document.secret.Key == "" {
			d.document.secret = c.secret
		}
	}
}

// fork returns a decoder for elements of the list where d is, which changes nothing of d's.
func (d *decoder) fork() *decoder {
	doc := *d.document
	return &decoder{
		report: &Report{documents: d.report.documents, outside: d.report.outside}, schema: schema{}, cores: 1, document: &doc, path: slices.Clone(d.path),
	}
}

// chunk reads one chunk of a list into v and notes in it what it finds.
func (d *decoder) chunk(l *layout, v reflect.Value, c *chunk) {
	d.report.problems, d.report.more, d.document.secret = nil, 0, Problem{}
	for k, at := c.node, c.at; at < c.at+c.count; at++ {
		d.element(l, v, at, k)
		k = d.document.next(k)
	}
	c.problems, c.more, c.secret = d.report.problems, d.report.more, d.document.secret
}
