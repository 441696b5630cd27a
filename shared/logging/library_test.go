package logging_test

import (
	"log"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/logging/logtest"
)

func TestLibrary_IsBounded(t *testing.T) {
	var logged logtest.Buffer
	library := logging.Library(zerolog.New(&logged).Level(zerolog.DebugLevel))
	logging.TakeStandard(zerolog.New(&logged).Level(zerolog.DebugLevel))
	defer log.SetOutput(os.Stderr)
	for range 1000 {
		library.Print("[ERR] memberlist: something")
		log.Print("http2: something")
	}
	text := logged.String()
	lines := strings.Count(text, "\n")
	if !strings.Contains(text, "memberlist: something") || !strings.Contains(text, "http2: something") || lines > 100 {
		t.Errorf("%d lines: %s", lines, text)
	}
	before := logged.String()
	logging.Library(zerolog.New(&logged).Level(zerolog.InfoLevel)).Print("something")
	if logged.String() != before {
		t.Error("a library's lines are logged although debugging is off")
	}
}
