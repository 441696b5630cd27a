package dnstap // inside: it uses buffer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// frameOf returns a frame as head and tail, with random data of the given length after the number.
func frameOf(number uint32, length int) (head, tail []byte) {
	head = binary.BigEndian.AppendUint32(nil, uint32(4+length))
	head = binary.BigEndian.AppendUint32(head, number)
	return head, bytes.Repeat([]byte{byte(number)}, length)
}

// A concurrent reader receives each frame complete and in order, across the end of the memory. A full buffer rejects
// frames and accepts frames again after release.
func TestBuffer_PassesCompleteFramesInOrder(t *testing.T) {
	var b buffer
	const frames = 5000
	var writing sync.WaitGroup
	accepted := make(chan uint32, frames)
	writing.Go(func() {
		defer close(accepted)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range uint32(frames) {
			if head, tail := frameOf(i, random.IntN(4000)); b.append(head, tail) > 0 {
				accepted <- i
			}
		}
	})
	var rest []byte // copy of the pending frames
	for want := range accepted {
		if len(rest) == 0 {
			first, second := b.pending()
			rest = slices.Concat(first, second)
		}
		length := lengthSize + int(binary.BigEndian.Uint32(rest))
		if got := binary.BigEndian.Uint32(rest[lengthSize:]); got != want {
			t.Fatalf("frame %d, want %d", got, want)
		}
		if len(bytes.TrimLeft(rest[2*lengthSize:length], string([]byte{byte(want)}))) > 0 {
			t.Fatalf("frame %d is torn", want)
		}
		b.release(length)
		rest = rest[length:]
	}
	writing.Wait()
}

func TestBuffer_RejectsAFrameWithoutRoom(t *testing.T) {
	var b buffer
	frames := uint64(0)
	for {
		head, tail := frameOf(uint32(frames), 1000)
		used := b.append(head, tail)
		if used == 0 {
			break
		}
		frames++
		if used != frames*1008 {
			t.Fatalf("%d octets after %d frames", used, frames)
		}
	}
	if frames != bufferSize/1008 {
		t.Errorf("%d frames fit", frames)
	}
	first, second := b.pending()
	if got := b.countFrames(len(first) + len(second)); got != frames {
		t.Errorf("%d frames are counted, want %d", got, frames)
	}
	b.release(1008)
	if head, tail := frameOf(1, 1000); b.append(head, tail) == 0 {
		t.Error("no frame fits after a release")
	}
	if first, second = b.pending(); len(second) == 0 || b.countFrames(len(first)+len(second)) != frames {
		t.Error("the frames do not wrap around: " + fmt.Sprint(len(first), len(second)))
	}
}
