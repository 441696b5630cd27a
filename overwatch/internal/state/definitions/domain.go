package definitions

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// EditDomain applies a change to a domain and validates the result. It ignores dnssec_enabled, because its meaning
// depends on the node. After an error, the caller must not use d.
func EditDomain(d *model.Domain, change model.Patch[model.Domain], source string) error {
	before := d.DNSSECEnabled
	if err := ApplyPatch(d, change, source); err != nil {
		return err
	}
	d.DNSSECEnabled = before
	return checkDomainFields(d)
}

// ApplyPatch applies a merge patch to an object. It returns the first problem as a sentence.
func ApplyPatch[T any](object *T, patch model.Patch[T], source string) error {
	if problems := patch.Apply(object, source); len(problems) > 0 {
		return fieldError(problems)
	}
	return nil
}

// fieldError returns the first problem of fields as a sentence.
func fieldError(problems settings.Problems) error {
	p := problems[0]
	if p.Value == "" {
		return fmt.Errorf("%s: %s", p.Key, p.Message)
	}
	return fmt.Errorf("%s is %s: %s", p.Key, p.Value, p.Message)
}

// CheckDomain returns the first fault of an API domain that is independent of other definitions and of the
// configuration file.
func CheckDomain(d *model.Domain) error {
	name, remedy := settings.ParseService(d.Name)
	if remedy == "" && name != d.Name {
		remedy = fmt.Sprintf("it must be %q", name)
	}
	if remedy != "" {
		return fmt.Errorf("name is %.260q: %s", d.Name, remedy)
	}
	if problems := model.Bounds(d); len(problems) > 0 {
		return fieldError(problems)
	}
	return errors.Join(checkDomainFields(d), CheckOwner(d.Owner))
}

// checkDomainFields validates the settings of a domain, except the bounds of numbers.
func checkDomainFields(d *model.Domain) error {
	for _, p := range config.DomainProblems(d) {
		return fmt.Errorf("%s is %.260q: %s", p.Key, p.Value, p.Message)
	}
	return nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// CheckText returns an error for a text that is empty, longer than limit characters, or not printable.
func CheckText(field, text string, limit int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is missing: it must be a text of 1 to %d characters", field, limit)
	case utf8.RuneCountInString(text) > limit:
		return fmt.Errorf("%s has %d characters: at most %d are allowed", field, utf8.RuneCountInString(text), limit)
	case strings.ContainsFunc(text, notPrintable):
		return fmt.Errorf("%s has a character that cannot be printed, such as a line break", field)
	}
	return nil
}

// checkOptionalText is CheckText for an optional text.
func checkOptionalText(field, text string, limit int) error {
	if text == "" {
		return nil
	}
	return CheckText(field, text, limit)
}

// CheckOwner returns an error for a text that cannot be the owner of an object. The empty text is valid.
func CheckOwner(owner string) error {
	if remedy := settings.LabelRemedy(owner, api.MaxOwner); owner != "" && remedy != "" {
		return fmt.Errorf("owner is %.70q: %s", owner, remedy)
	}
	return nil
}
