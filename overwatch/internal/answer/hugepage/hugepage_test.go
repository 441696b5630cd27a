package hugepage

import "testing"

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
