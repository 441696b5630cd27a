package logging_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/logging"
)

func TestNew_WritesOneObjectPerLineWithItsTime(t *testing.T) {
	var out bytes.Buffer
	logger, err := logging.New(logging.Config{Level: "info", Format: logging.FormatJSON}, &out)
	if err != nil {
		t.Fatal(err)
	}
	logger.Debug().Msg("not at this level")
	logger.Info().Str("key", "value").Msg("hello")
	var line struct{ Level, Message, Key, Time string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	if _, err := time.Parse(time.RFC3339, line.Time); err != nil || line.Level != "info" || line.Message != "hello" ||
		line.Key != "value" {
		t.Errorf("got %+v, %v", line, err)
	}
}

func TestNew_ConsoleIsTextWithoutColours(t *testing.T) {
	var out bytes.Buffer
	logger, err := logging.New(logging.Config{Level: "debug", Format: logging.FormatConsole}, &out)
	if err != nil {
		t.Fatal(err)
	}
	logger.Debug().Str("key", "value").Msg("hello")
	if got := out.String(); !strings.Contains(got, "DBG hello key=value\n") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
}

func TestNew_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, tt := range []struct {
		cfg  logging.Config
		want string
	}{
		{logging.Config{"loud", logging.FormatJSON}, `logging.level: "loud": use one of debug, info, warn, error`},
		{logging.Config{"", logging.FormatJSON}, `logging.level: "": use one of debug, info, warn, error`},
		{logging.Config{"disabled", logging.FormatJSON}, `logging.level: "disabled": use one of debug, info, warn, error`},
		{logging.Config{"info", "xml"}, `logging.format: "xml": use one of auto, json, console`},
	} {
		if _, err := logging.New(tt.cfg, &bytes.Buffer{}); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.cfg, err, tt.want)
		}
	}
	for _, level := range logging.Levels() {
		for _, format := range logging.Formats() {
			if _, err := logging.New(logging.Config{level, format}, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestControl_ChangesLevelAndFormatOfEveryLogger(t *testing.T) {
	var out bytes.Buffer
	logger, control, err := logging.Adjustable(logging.Config{Level: "warn", Format: logging.FormatJSON}, &out)
	if err != nil {
		t.Fatal(err)
	}
	part := logger.With().Str("component", "x").Logger()
	part.Info().Msg("first")
	if err := control.Set(logging.Config{"debug", logging.FormatConsole}); err != nil {
		t.Fatal(err)
	}
	part.Debug().Msg("two")
	if err := control.Set(logging.Config{"loud", logging.FormatJSON}); err == nil {
		t.Error("an unknown level was taken")
	}
	if err := control.Set(logging.Config{"error", "xml"}); err == nil {
		t.Error("an unknown format was taken")
	}
	part.Info().Msg("three")
	if got := out.String(); strings.Contains(got, "first") || !strings.Contains(got, "DBG two component=x\n") ||
		!strings.Contains(got, "INF three component=x\n") {
		t.Errorf("got %q", got)
	}
}

func TestNew_AutoIsJSONExceptOnATerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	logger, err := logging.New(logging.Config{Level: "info", Format: logging.FormatAuto}, file)
	if err != nil {
		t.Fatal(err)
	}
	logger.Info().Msg("hello")
	if got, _ := os.ReadFile(file.Name()); !strings.HasPrefix(string(got), `{"level":"info"`) {
		t.Errorf("a file has %q", got)
	}
}
