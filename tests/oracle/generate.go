package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// generate makes a random type and value, and writes the value in every form.
func generate(seed uint64) *Answer {
	g := &generator{rand.New(rand.NewPCG(seed, 0))}
	ty := g.anyType(3)
	value := g.value(ty, ty, 3)
	answer := &Answer{Type: typeJSON(ty), FromMsgpack: &Result{Value: notation(value)}}
	write(answer, value, ty)
	return answer
}

type generator struct{ *rand.Rand }

func (g *generator) anyType(depth int) cty.Type {
	kinds := 9
	if depth == 0 {
		kinds = 4
	}
	switch g.IntN(kinds) {
	case 0:
		return cty.String
	case 1:
		return cty.Number
	case 2:
		return cty.Bool
	case 3:
		return cty.DynamicPseudoType
	case 4:
		return cty.List(g.anyType(depth - 1))
	case 5:
		return cty.Set(g.closed(depth - 1))
	case 6:
		return cty.Map(g.anyType(depth - 1))
	case 7:
		attributes := map[string]cty.Type{}
		for range g.IntN(5) {
			attributes[g.text()] = g.anyType(depth - 1)
		}
		return cty.Object(attributes)
	default:
		elements := make([]cty.Type, g.IntN(4))
		for i := range elements {
			elements[i] = g.anyType(depth - 1)
		}
		return cty.Tuple(elements)
	}
}

// closed is a type without dynamic parts.
func (g *generator) closed(depth int) cty.Type {
	for {
		if ty := g.anyType(depth); !ty.HasDynamicTypes() {
			return ty
		}
	}
}

// value is one of type ty, which fills in the open parts of schema, or is the same. Where it fills in parts, nulls,
// unknowns and empty collections would lose their type on the wire, so there are none.
func (g *generator) value(schema, ty cty.Type, depth int) cty.Value {
	if ty == cty.DynamicPseudoType {
		switch g.IntN(6) {
		case 0:
			return cty.DynamicVal
		case 1:
			return cty.NullVal(ty)
		}
		ty = g.closed(max(depth-1, 0))
	}
	if schema == cty.DynamicPseudoType {
		schema = ty
	}
	if schema.Equals(ty) {
		switch g.IntN(12) {
		case 0:
			return cty.NullVal(ty)
		case 1:
			return g.unknown(ty)
		}
	}
	switch {
	case ty == cty.String:
		return cty.StringVal(g.text())
	case ty == cty.Bool:
		return cty.BoolVal(g.IntN(2) == 0)
	case ty == cty.Number:
		return g.number()
	case ty.IsTupleType():
		var elements []cty.Value
		for i, element := range ty.TupleElementTypes() {
			elements = append(elements, g.value(schema.TupleElementType(i), element, depth-1))
		}
		return cty.TupleVal(elements)
	case ty.IsObjectType():
		attributes := map[string]cty.Value{}
		for name, attribute := range ty.AttributeTypes() {
			attributes[name] = g.value(schema.AttributeType(name), attribute, depth-1)
		}
		return cty.ObjectVal(attributes)
	}
	return g.collection(schema, ty, depth)
}

func (g *generator) collection(schema, ty cty.Type, depth int) cty.Value {
	// Open parts must be of one type throughout a collection.
	element := g.fill(ty.ElementType(), depth-1)
	var elements []cty.Value
	least := 0
	if !schema.Equals(ty) {
		least = 1
	}
	for range least + g.IntN(4-least) {
		elements = append(elements, g.value(schema.ElementType(), element, depth-1))
	}
	switch {
	case ty.IsListType() && len(elements) == 0:
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsListType():
		return cty.ListVal(elements)
	case ty.IsSetType() && len(elements) == 0:
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetVal(elements)
	case len(elements) == 0:
		return cty.MapValEmpty(ty.ElementType())
	}
	named := map[string]cty.Value{}
	for _, v := range elements {
		named[g.text()] = v
	}
	return cty.MapVal(named)
}

// fill puts closed types in the place of dynamic ones.
func (g *generator) fill(ty cty.Type, depth int) cty.Type {
	switch {
	case ty == cty.DynamicPseudoType:
		return g.closed(max(depth, 0))
	case ty.IsListType():
		return cty.List(g.fill(ty.ElementType(), depth-1))
	case ty.IsSetType():
		return cty.Set(g.fill(ty.ElementType(), depth-1))
	case ty.IsMapType():
		return cty.Map(g.fill(ty.ElementType(), depth-1))
	case ty.IsTupleType():
		elements := []cty.Type{}
		for _, element := range ty.TupleElementTypes() {
			elements = append(elements, g.fill(element, depth-1))
		}
		return cty.Tuple(elements)
	case ty.IsObjectType():
		attributes := map[string]cty.Type{}
		for name, attribute := range ty.AttributeTypes() {
			attributes[name] = g.fill(attribute, depth-1)
		}
		return cty.Object(attributes)
	}
	return ty
}

func (g *generator) unknown(ty cty.Type) cty.Value {
	about := cty.UnknownVal(ty).Refine()
	if g.IntN(2) == 0 {
		about = about.NotNull()
	}
	switch {
	case ty == cty.String && g.IntN(2) == 0:
		about = about.StringPrefix(g.text())
	case ty == cty.Number:
		low := int64(g.IntN(100) - 50)
		if g.IntN(2) == 0 {
			about = about.NumberRangeLowerBound(cty.NumberIntVal(low), g.IntN(2) == 0)
		}
		if g.IntN(2) == 0 {
			about = about.NumberRangeUpperBound(cty.NumberFloatVal(float64(low)+1.5), g.IntN(2) == 0)
		}
	case ty.IsCollectionType():
		low := g.IntN(3)
		if g.IntN(2) == 0 {
			about = about.CollectionLengthLowerBound(low)
		}
		if g.IntN(2) == 0 {
			about = about.CollectionLengthUpperBound(low + g.IntN(3))
		}
	}
	return about.NewValue()
}

func (g *generator) number() cty.Value {
	switch g.IntN(6) {
	case 0:
		return cty.NumberIntVal(int64(g.Uint64()) >> g.IntN(64))
	case 1:
		return cty.NumberUIntVal(g.Uint64())
	case 2:
		// Larger integers have no float form that survives a round trip in the library itself.
		return cty.NumberFloatVal(float64(g.IntN(1<<40)-1<<39) / float64(int(1)<<g.IntN(30)))
	case 3:
		return g.parsed(fmt.Sprintf("%d.%d", g.IntN(2000)-1000, g.Uint64()))
	case 4:
		return g.parsed(fmt.Sprintf("%de%d", g.IntN(2000)-1000, g.IntN(80)-40))
	default:
		return cty.NumberIntVal(int64(g.IntN(200) - 100))
	}
}

func (g *generator) parsed(text string) cty.Value {
	v, err := convert.Convert(cty.StringVal(text), cty.Number)
	if err != nil {
		panic(err)
	}
	return v
}

// text is short, and often not plain ASCII or not in normal form.
func (g *generator) text() string {
	pieces := []string{"a", "b", "Z", "0", "7", "-", ".", " ", "\"", "\\", "\n", "<&>", "é", "e\u0301", "日本", "🙂",
		"\u2028", "\u00a0", "\u1100\u1161", "1", "true", "long-"}
	text := ""
	for range g.IntN(4) {
		text += pieces[g.IntN(len(pieces))]
	}
	return text
}
