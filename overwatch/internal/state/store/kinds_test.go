package store // inside: it deletes a bucket

import (
	"net/netip"
	"testing"

	bolt "go.etcd.io/bbolt"

	"gslb.internal/shared/model"
)

// A store of a version without a kind gets the bucket of the kind at its next opening, and loses nothing.
func TestOpen_MakesTheBucketOfANewKind(t *testing.T) {
	dir := t.TempDir()
	s := openNode(t, dir, "a", nil)
	putOne(t, s, "app.example", "kept")
	path := s.path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := openBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		if err := tx.DeleteBucket([]byte("mappings")); err != nil {
			return err
		}
		return tx.Bucket([]byte(bucketDigests)).Delete([]byte("mappings"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = openNode(t, dir, "a", nil)
	if s.Recovered() != "" {
		t.Fatal(s.Recovered())
	}
	var b Batch
	b.PutObject(KindMapping, &model.Mapping{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Region: "eu"})
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	if counts, err := loaded(s); err != nil || counts[KindMapping] != 1 || descriptions(t, s)["app.example"] != "kept" {
		t.Errorf("the store has %v, %v", counts, err)
	}
}
