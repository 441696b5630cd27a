package audit

import (
	"context"
	"errors"
	"time"

	"gslb.internal/overwatch/internal/leaf/wallclock"
	"gslb.internal/shared/api"
)

// pruneEvery is the time between two deletions of old entries.
const pruneEvery = time.Hour

// Run verifies the chains once, and deletes entries each hour until ctx ends. At the start and after each clock step it
// deletes only the entries beyond the limit of their room, because an operator may correct a wrong clock.
func (l *Log) Run(ctx context.Context) error {
	if err := l.verify(); err != nil {
		l.o.Logger.Error().Err(err).Msg("the audit log is not as it was written")
	}
	every := time.NewTicker(pruneEvery)
	defer every.Stop()
	var clock wallclock.Watch
	clock.Jumped(l.o.Now())
	var cut time.Time
	for {
		if err := l.prune(ctx, cut); err != nil && ctx.Err() == nil {
			l.o.Logger.Error().Err(err).Msg("old audit entries could not be deleted")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		now := l.o.Now()
		if cut = now.Add(-l.o.Retention); clock.Jumped(now) {
			cut = time.Time{}
		}
	}
}

// verify returns an error that identifies the first invalid entry of the chains.
func (l *Log) verify() error {
	for r := range l.rooms {
		var before *api.AuditEntry
		for e, err := range l.Oldest(Room(r)) {
			if err == nil {
				err = e.Follows(before)
			}
			if err != nil {
				return err
			}
			before = &e
		}
	}
	return nil
}

// prune deletes the entries before cut, and the entries beyond the limit of their room. It keeps the latest entry of
// each room, so that the chain continues.
func (l *Log) prune(ctx context.Context, cut time.Time) error {
	var failed []error
	for _, r := range Rooms() {
		failed = append(failed, l.pruneRoom(ctx, r, cut))
	}
	return errors.Join(failed...)
}

func (l *Log) pruneRoom(ctx context.Context, r Room, cut time.Time) error {
	last, err := l.newest(r)
	if err != nil {
		return err
	}
	var ids []uint64
	for e, err := range l.Oldest(r) {
		if err != nil {
			return err
		}
		if e.ID == last || (e.Timestamp.After(cut) && last-e.ID < l.rooms[r].max) {
			break
		}
		if ids = append(ids, e.ID); len(ids) == chunk {
			if err := errors.Join(ctx.Err(), l.rooms[r].store.Delete(ids)); err != nil {
				return err
			}
			ids = ids[:0]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return l.rooms[r].store.Delete(ids)
}
