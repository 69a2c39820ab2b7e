package main

import (
	"encoding/json"
	"math"

	"github.com/zclconf/go-cty/cty"
)

// notation describes a value completely, types of nulls and refinements of unknowns included, in the JSON notation of
// tests/values/notation.rs. It shares no code with the library's own encoders.
func notation(v cty.Value) json.RawMessage {
	text, err := json.Marshal(describe(v))
	if err != nil {
		panic(err)
	}
	return text
}

func describe(v cty.Value) any {
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return describeUnknown(v)
	case v.IsNull():
		return map[string]any{"null": typeJSON(ty)}
	case ty == cty.Bool:
		return v.True()
	case ty == cty.String:
		return v.AsString()
	case ty == cty.Number:
		return describeNumber(v)
	case ty.IsListType():
		return map[string]any{"list": describeAll(v), "of": typeJSON(ty.ElementType())}
	case ty.IsSetType():
		return map[string]any{"set": describeAll(v), "of": typeJSON(ty.ElementType())}
	case ty.IsTupleType():
		return map[string]any{"tuple": describeAll(v)}
	case ty.IsMapType():
		return map[string]any{"map": describeNamed(v), "of": typeJSON(ty.ElementType())}
	case ty.IsObjectType():
		return map[string]any{"object": describeNamed(v)}
	default:
		panic("no notation for " + ty.FriendlyName())
	}
}

func describeNumber(v cty.Value) any {
	f := v.AsBigFloat()
	switch {
	case f.IsInf() && f.Signbit():
		return map[string]any{"infinity": "-"}
	case f.IsInf():
		return map[string]any{"infinity": "+"}
	default:
		text := f.Text('f', -1)
		if text == "-0" {
			text = "0"
		}
		return json.RawMessage(text)
	}
}

func describeAll(v cty.Value) []any {
	all := []any{}
	for it := v.ElementIterator(); it.Next(); {
		_, element := it.Element()
		all = append(all, describe(element))
	}
	return all
}

func describeNamed(v cty.Value) map[string]any {
	all := map[string]any{}
	for it := v.ElementIterator(); it.Next(); {
		key, element := it.Element()
		all[key.AsString()] = describe(element)
	}
	return all
}

func describeUnknown(v cty.Value) any {
	ty := v.Type()
	known := map[string]any{"unknown": typeJSON(ty)}
	if ty == cty.DynamicPseudoType {
		return known
	}
	about := v.Range()
	if about.DefinitelyNotNull() {
		known["not_null"] = true
	}
	bound := func(name string, limit cty.Value, inclusive bool) {
		if limit.IsKnown() && !limit.AsBigFloat().IsInf() {
			known[name] = []any{describeNumber(limit), inclusive}
		}
	}
	switch {
	case ty == cty.String:
		if prefix := about.StringPrefix(); prefix != "" {
			known["prefix"] = prefix
		}
	case ty == cty.Number:
		lower, inclusive := about.NumberLowerBound()
		bound("min", lower, inclusive)
		upper, inclusive := about.NumberUpperBound()
		bound("max", upper, inclusive)
	case ty.IsCollectionType():
		if n := about.LengthLowerBound(); n > 0 {
			known["min_length"] = n
		}
		if n := about.LengthUpperBound(); n != math.MaxInt {
			known["max_length"] = n
		}
	}
	return known
}
