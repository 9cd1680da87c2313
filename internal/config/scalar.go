package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size in bytes. In a file it is a whole number, or one with a
// unit: 64KiB, 32MiB, 1GiB.
type Bytes int64

var byteUnits = []struct {
	name  string
	shift int
}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}

// String returns the size with the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if b != 0 && b%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", b>>u.shift, u.name)
		}
	}
	return "0B"
}

func parseBytes(text string) (Bytes, error) {
	number, shift := text, 0
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			number, shift = strings.TrimSpace(n), u.shift
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%s is no size", quote(text))
	}
	return Bytes(n << shift), nil
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	bytesType    = reflect.TypeFor[Bytes]()
	secretType   = reflect.TypeFor[Secret]()
)

// setScalar sets v, which is not a struct, slice or map, from its text.
func setScalar(v reflect.Value, text string) error {
	switch {
	case v.Type() == durationType:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s is no duration", quote(text))
		}
		v.SetInt(int64(d))
	case v.Type() == bytesType:
		b, err := parseBytes(text)
		if err != nil {
			return err
		}
		v.SetInt(int64(b))
	case v.Type() == secretType:
		v.Set(reflect.ValueOf(NewSecret(text)))
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is no whole number", quote(text))
		}
		v.SetInt(n)
	case v.CanFloat():
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s is no number", quote(text))
		}
		v.SetFloat(f)
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not true or false", text)
		}
		v.SetBool(b)
	case v.Kind() == reflect.String:
		v.SetString(text)
	default:
		return errors.New("is no single value")
	}
	return nil
}

// kindName names the type of a setting for people, and what to write.
func kindName(t reflect.Type) (name, hint string) {
	switch {
	case t == durationType:
		return "duration", "write a number with a unit, as 500ms, 5s or 2m"
	case t == bytesType:
		return "size", "write bytes, or a number with a unit, as 64KiB or 32MiB"
	case t == secretType:
		return "text", "write one value, in quotes"
	case t == strategyType:
		return "strategy", "write NAME, NAME:key=value or a mapping with name and options"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false", "write true or false, without quotes"
	case reflect.Int, reflect.Int64:
		return "whole number", "write a whole number, without quotes or a fraction"
	case reflect.Float64:
		return "number", "write a number, without quotes"
	case reflect.String:
		return "text", "write one value, in quotes"
	case reflect.Slice:
		inner, _ := kindName(t.Elem())
		return "list of " + inner, "write a list: one item on a line, each after a dash"
	case reflect.Map:
		inner, _ := kindName(t.Elem())
		return "mapping of names to " + inner, "write one name: value on a line"
	}
	return "mapping", "write one key: value on a line"
}
