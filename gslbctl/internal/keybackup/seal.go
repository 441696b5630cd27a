package keybackup

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"filippo.io/age"
)

// MaxBackup is the maximum size of a backup in octets. It is sufficient for some 10 000 zones.
const MaxBackup = 64 << 20

// aboutName is the name of the first file in the archive. Only backups of this package contain it.
const aboutName = "gslb-signing-keys.json"

// about is the content of the file aboutName.
type about struct {
	Format int       `json:"format"`
	MadeAt time.Time `json:"made_at"`
	Host   string    `json:"host"`
}

// format is the version of the archive's format.
const format = 1

// maxWork is the highest accepted work factor of scrypt: some seconds and 1 GiB. age writes 18.
const maxWork = 20

// Backup is the content of a backup file: the key files of some zones.
type Backup struct {
	MadeAt time.Time
	Host   string // name of the machine that made the backup
	Files  []File
	Keys   []Key
}

// seal encrypts a backup and writes it.
func seal(w io.Writer, to age.Recipient, b *Backup) error {
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(sealed)
	first, err := json.Marshal(about{format, b.MadeAt.UTC(), b.Host})
	if err != nil {
		return err
	}
	for _, f := range append([]File{{aboutName, append(first, '\n')}}, b.Files...) {
		header := &tar.Header{Name: f.Name, Mode: 0o600, Size: int64(len(f.Content)), ModTime: b.MadeAt}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.Content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), sealed.Close())
}

// errForeign means that the passphrase opens the file, but the content is not a backup of this package.
var errForeign = errors.New("it opens, and is no backup of signing keys by gslbctl dnssec backup")

// Open decrypts a backup. It authenticates the whole file first, so the author of the content knew the passphrase.
func Open(r io.Reader, passphrase string) (*Backup, error) {
	by, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	by.SetMaxWorkFactor(maxWork)
	content, err := io.ReadAll(io.LimitReader(r, MaxBackup+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MaxBackup:
		return nil, fmt.Errorf("it has more than %d MiB, which no backup of signing keys has", MaxBackup>>20)
	case !bytes.HasPrefix(content, []byte("age-encryption.org/")):
		return nil, errors.New("it is no backup of gslbctl dnssec backup: it is not sealed by age")
	}
	opened, err := age.Decrypt(bytes.NewReader(content), by)
	if err == nil {
		content, err = io.ReadAll(opened)
	}
	switch none := new(age.NoIdentityMatchError); {
	case errors.As(err, &none) && (len(none.StanzaTypes) != 1 || none.StanzaTypes[0] != "scrypt"):
		return nil, errors.New("it is sealed for keys of age, not by a passphrase: it is no backup of gslbctl " +
			"dnssec backup")
	case errors.As(err, &none):
		return nil, errors.New("the passphrase is wrong")
	case err != nil:
		return nil, fmt.Errorf("it is damaged or cut off: %w", err)
	}
	return unpack(content)
}

func unpack(content []byte) (*Backup, error) {
	archive := tar.NewReader(bytes.NewReader(content))
	b, first := &Backup{}, true
	for ; ; first = false {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && !first {
			break
		}
		if err != nil || first != (header.Name == aboutName) {
			return nil, errForeign
		}
		if header.Typeflag != tar.TypeReg || header.Size > maxFile || !first && !kept(header.Name) {
			return nil, fmt.Errorf("it has %.80q, which is no key file", header.Name)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, errForeign
		}
		if !first {
			b.Files = append(b.Files, File{header.Name, text})
			continue
		}
		var a about
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, errForeign
		}
		if a.Format != format {
			return nil, fmt.Errorf("its format is %d, and this gslbctl knows %d: take the gslbctl that made it",
				a.Format,
				format)
		}
		b.MadeAt, b.Host = a.MadeAt, a.Host
	}
	var err error
	b.Keys, err = keysOf(b.Files)
	return b, err
}

// Write encrypts a backup into a new file with mode 0600. An existing file is an error.
func Write(path, passphrase string, b *Backup) (err error) {
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return fmt.Errorf("writing the backup: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing the backup: %w", err)
	}
	if err = errors.Join(seal(f, to, b), f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing the backup: %w", err), os.Remove(path))
	}
	return nil
}

// Check returns an error if the file at path cannot be a backup: it is missing, no regular file, or too large. The
// caller checks the file before the prompt for a passphrase.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("reading the backup: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", path)
	case info.Size() > MaxBackup:
		return fmt.Errorf("%s has %d MiB, and no backup of signing keys has more than %d", path, info.Size()>>20,
			MaxBackup>>20)
	}
	return nil
}

// Load decrypts the backup in a file.
func Load(path, passphrase string) (*Backup, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the backup: %w", err)
	}
	defer f.Close()
	b, err := Open(f, passphrase)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}
