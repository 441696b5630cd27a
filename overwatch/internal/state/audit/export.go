package audit

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/api"
)

// Export writes entries in a format: csv, ndjson or json. It stores at most one entry in memory.
func Export(w io.Writer, format string, entries iter.Seq2[api.AuditEntry, error]) error {
	switch format {
	case "csv":
		return exportCSV(w, entries)
	case "ndjson":
		return exportJSON(w, "", "", "\n", entries)
	default:
		return exportJSON(w, `{"entries":[`, ",", "]}\n", entries)
	}
}

// exportJSON writes one entry per line.
func exportJSON(w io.Writer, head, between, tail string, entries iter.Seq2[api.AuditEntry, error]) error {
	lead := head
	for e, err := range entries {
		if err != nil {
			return err
		}
		encoded, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, lead+string(encoded)); err != nil {
			return err
		}
		lead = between + "\n"
	}
	if lead == head {
		tail = head + strings.TrimPrefix(tail, "\n")
	}
	_, err := io.WriteString(w, tail)
	return err
}

func exportCSV(w io.Writer, entries iter.Seq2[api.AuditEntry, error]) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"id", "timestamp", "action", "resource", "resource_id", "actor", "actor_type", "actor_ip",
		"status", "details",
		"before", "after", "duration_ms", "request_id", "previous_hash", "hash"})
	for e, failure := range entries {
		if err = errors.Join(err, failure); err != nil {
			return err
		}
		details, failure := json.Marshal(e.Details)
		err = errors.Join(failure, out.Write(escapeFormulas([]string{
			strconv.FormatUint(e.ID, 10), e.Timestamp.Format(time.RFC3339Nano), e.Action, e.Resource, e.ResourceID,
			e.Actor,
			e.ActorType, e.ActorIP, e.Status,
			string(details), string(e.Before), string(e.After), strconv.FormatFloat(e.DurationMs, 'f', -1, 64),
			e.RequestID,
			e.PreviousHash, e.Hash,
		})))
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

// escapeFormulas prevents spreadsheets from evaluating cells as formulas: it inserts an apostrophe before the text of
// such cells. It changes the cells in place and returns them.
func escapeFormulas(cells []string) []string {
	for i, cell := range cells {
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			cells[i] = "'" + cell
		}
	}
	return cells
}
