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
