package settings

import (
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"time"
)

// setter parses a text into a value of its type. For an invalid text, remedy states how to correct it; else it is "".
type setter func(v reflect.Value, text string) (remedy string)

// setterOf returns the setter of a type of scalarShape.
func setterOf(t reflect.Type) setter {
	switch t {
	case durationType, textDurationType:
		return setDuration
	case addrType:
		return setAddr
	case prefixType:
		return setPrefix
	}
	switch t.Kind() {
	case reflect.Pointer:
		return setPointer(setterOf(t.Elem()))
	case reflect.String:
		return setString
	case reflect.Bool:
		return setBool
	case reflect.Int, reflect.Int64:
		return setInt
	case reflect.Uint16:
		return setUint
	case reflect.Float64:
		return setFloat
	}
	return func(v reflect.Value, _ string) string { return fmt.Sprintf("the program cannot read a %s", v.Type()) }
}

// setPointer returns a setter for a pointer to a new value.
func setPointer(set setter) setter {
	return func(v reflect.Value, text string) (remedy string) {
		fresh := reflect.New(v.Type().Elem())
		if remedy = set(fresh.Elem(), text); remedy == "" {
			v.Set(fresh)
		}
		return remedy
	}
}

func setString(v reflect.Value, text string) string {
	v.SetString(text)
	return ""
}

func setDuration(v reflect.Value, text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return "give a time with its unit, such as 500ms, 30s, 5m or 1h"
	}
	v.SetInt(int64(d))
	return ""
}

func setAddr(v reflect.Value, text string) string {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return "give an IP address, such as 192.0.2.10 or 2001:db8::10, without a zone"
	}
	*v.Addr().Interface().(*netip.Addr) = addr.Unmap()
	return ""
}

func setPrefix(v reflect.Value, text string) string {
	prefix, err := netip.ParsePrefix(text)
	if err == nil && prefix == prefix.Masked() {
		*v.Addr().Interface().(*netip.Prefix) = prefix
		return ""
	}
	if err == nil {
		return fmt.Sprintf("the address has bits behind the prefix: write %s, or %s for that one address",
			prefix.Masked(), netip.PrefixFrom(prefix.Addr(), prefix.Addr().BitLen()))
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		one := netip.PrefixFrom(addr, addr.BitLen())
		return fmt.Sprintf("give the prefix length as well: %s for that one address", one)
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

// setUint sets a uint16: a port.
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
