package settings

import (
	"encoding"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// setScalar puts text into v, which is of a type that scalarShape stands for. It returns what would be right, or ""
// when text is.
func setScalar(v reflect.Value, text string) (remedy string) {
	if v.Kind() == reflect.Pointer {
		fresh := reflect.New(v.Type().Elem())
		if remedy = setScalar(fresh.Elem(), text); remedy == "" {
			v.Set(fresh)
		}
		return remedy
	}
	switch target := v.Addr().Interface().(type) {
	case *time.Duration:
		return setDuration(target, text)
	case *netip.Addr:
		return setAddr(target, text)
	case *netip.Prefix:
		return setPrefix(target, text)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(text)) // a part of the file's text would keep all of it in memory
	case reflect.Bool:
		return setBool(v, text)
	case reflect.Int, reflect.Int64:
		return setInt(v, text)
	case reflect.Uint16:
		return setUint(v, text)
	case reflect.Float64:
		return setFloat(v, text)
	default:
		return fmt.Sprintf("the program cannot read a %s", v.Type())
	}
	return ""
}

func setDuration(target *time.Duration, text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return "give a time with its unit, such as 500ms, 30s, 5m or 1h"
	}
	*target = d
	return ""
}

func setAddr(target *netip.Addr, text string) string {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return "give an IP address, such as 192.0.2.10 or 2001:db8::10, without a zone"
	}
	*target = addr.Unmap()
	return ""
}

func setPrefix(target *netip.Prefix, text string) string {
	prefix, err := netip.ParsePrefix(text)
	if err == nil && prefix == prefix.Masked() {
		*target = prefix
		return ""
	}
	if err == nil {
		return fmt.Sprintf("the address has bits behind the prefix: write %s, or %s for that one address",
			prefix.Masked(), netip.PrefixFrom(prefix.Addr(), prefix.Addr().BitLen()))
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return fmt.Sprintf("give the prefix length as well: %s for that one address", netip.PrefixFrom(addr, addr.BitLen()))
	}
	return "give a network as address/length, such as 192.0.2.0/24 or 2001:db8::/32"
}

func setBool(v reflect.Value, text string) string {
	switch text {
	case "true", "True", "TRUE":
		v.SetBool(true)
	case "false", "False", "FALSE":
		v.SetBool(false)
	default:
		return "use true or false"
	}
	return ""
}

func setInt(v reflect.Value, text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "give a whole number"
	}
	v.SetInt(n)
	return ""
}

// setUint reads what we have as uint16: ports.
func setUint(v reflect.Value, text string) string {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "give a port from 1 to 65535"
	}
	v.SetUint(n)
	return ""
}

func setFloat(v reflect.Value, text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return "give a number"
	}
	v.SetFloat(f)
	return ""
}

// setText lets a struct that can also be written as one value read that value.
func setText(v reflect.Value, text string) (remedy string, can bool) {
	target, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		return "", false
	}
	if err := target.UnmarshalText([]byte(text)); err != nil {
		return err.Error(), true
	}
	return "", true
}
