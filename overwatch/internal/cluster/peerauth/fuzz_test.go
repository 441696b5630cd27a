package peerauth // inside: it uses parseAuthorization, parseChallenge and open

import "testing"

var testSecret = []byte("secret of a test")

const testPath = "/api/v1/replication/objects?since=0"

func FuzzParseAuthorization(f *testing.F) {
	r, _, err := newRequest(testPath, "ow-1", make([]byte, nonceSize))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.authorization(testSecret))
	f.Fuzz(func(t *testing.T, header string) {
		r, proof, err := parseAuthorization(testPath, header)
		if err == nil && (len(r.point) != pointSize || len(r.nonce) != nonceSize || len(proof) != proofSize || r.node == "") {
			t.Errorf("%+v, %x", r, proof)
		}
	})
}

func FuzzParseChallenge(f *testing.F) {
	f.Add(formatChallenge(make([]byte, nonceSize)))
	f.Fuzz(func(t *testing.T, header string) {
		if nonce, err := parseChallenge(header); err == nil && formatChallenge(nonce) != header {
			t.Errorf("%q is parsed as %x", header, nonce)
		}
	})
}

func FuzzOpen(f *testing.F) {
	r, private, err := newRequest(testPath, "ow-1", make([]byte, nonceSize))
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := r.seal(testSecret, []byte("answer"))
	if err != nil {
		f.Fatal(err)
	}
	if plain, err := r.open(testSecret, private, sealed); err != nil || string(plain) != "answer" {
		f.Fatal(string(plain), err)
	}
	f.Add(sealed[:len(sealed)-4])
	f.Fuzz(func(t *testing.T, sealed string) {
		if plain, err := r.open(testSecret, private, sealed); err == nil {
			t.Errorf("%q opens: %q", sealed, plain)
		}
	})
}
