package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/integration/harness"
)

// The error of a wait contains the last error of the condition instead of the end of the context.
func TestUntil_NamesTheLastErrorOfTheCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := harness.Until(ctx, "a drain", func(ctx context.Context) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.New("it is draining")
		})
		if err == nil || !strings.HasSuffix(err.Error(), "a drain: it is draining") {
			t.Errorf("got %v", err)
		}
	})
}
