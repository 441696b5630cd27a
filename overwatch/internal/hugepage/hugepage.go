// Package hugepage asks the kernel to keep large arrays that are read in no order in pages of 2 MiB. With pages of 4 KiB, nearly each
// read of such an array also waits for the page tables, above all in a virtual machine, which has two of them.
package hugepage

import "unsafe"

// size is that of a huge page on amd64, and on arm64 with small pages of 4 KiB.
const size = 2 << 20

// Gather moves what lies in whole huge pages of the array into such pages, which takes about a millisecond for each. The rest,
// and all of it where the kernel has none to give or does not know how, stays where it is: nothing but speed depends on it.
func Gather[T any](array []T) {
	var element T
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(array)))
	end := (begin + uintptr(cap(array))*unsafe.Sizeof(element)) / size * size
	if begin = (begin + size - 1) / size * size; begin < end {
		gather(begin, end-begin)
	}
}

// worthwhile is how many octets an array has that Make gives huge pages of its own, for which it takes up to 4 MiB more.
const worthwhile = size / 4

// Make makes an array, which begins with a huge page if it is long enough to gain by that, so that all of it lies in such pages.
func Make[T any](n int) []T {
	var element T
	each := unsafe.Sizeof(element)
	if uintptr(n)*each < worthwhile {
		return make([]T, n)
	}
	pages := (uintptr(n)*each + size - 1) / size
	room := make([]T, (pages+1)*size/each+1)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(room))) % size
	array := room[(skip+each-1)/each:]
	Gather(array)
	return array[:n:n]
}
