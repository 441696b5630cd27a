package hugepage

import (
	"testing"
	"unsafe"
)

func TestGather_KeepsWhatIsThere(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 3 * size / 8, 3*size/8 + 7} {
		array := make([]uint64, n)
		for i := range array {
			array[i] = uint64(i) * 3
		}
		Gather(array)
		for i, x := range array {
			if x != uint64(i)*3 {
				t.Fatalf("%d elements: number %d is %d", n, i, x)
			}
		}
	}
	Gather[struct{}](make([]struct{}, 10))
	Gather[byte](nil)
}

func TestMake_BeginsWithAPage(t *testing.T) {
	for _, n := range []int{0, 1, worthwhile/24 - 1, worthwhile/24 + 1, 3 * size / 24, 3*size/24 + 7} {
		array := Make[[3]uint64](n) // of a size that pages are no multiple of
		if len(array) != n || cap(array) != n {
			t.Fatalf("%d elements of %d, want %d", len(array), cap(array), n)
		}
		for i := range array {
			if array[i] != [3]uint64{} {
				t.Fatalf("%d elements: number %d is %d", n, i, array[i])
			}
			array[i][2] = 1
		}
		if offset := uintptr(unsafe.Pointer(unsafe.SliceData(array))) % size; n*24 >= worthwhile && offset >= 24 {
			t.Errorf("%d elements begin %d octets behind that of a page", n, offset)
		}
	}
}
