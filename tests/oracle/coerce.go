package main

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Block is a schema, reduced to what decides about values.
type Block struct {
	Attributes map[string]*Attribute `json:"attributes"`
	Blocks     map[string]*Nested    `json:"blocks"`
}

// Attribute has either a type or attributes of its own.
type Attribute struct {
	Type       json.RawMessage       `json:"type"`
	Attributes map[string]*Attribute `json:"attributes"`
	Nesting    string                `json:"nesting"`
	Required   bool                  `json:"required"`
	Optional   bool                  `json:"optional"`
	Computed   bool                  `json:"computed"`
}

// Nested is a block type within a block.
type Nested struct {
	Block
	Nesting string `json:"nesting"`
}

// coerce makes a value fit a schema, by the rules for values that were evaluated elsewhere.
func coerce(request *Request) *Answer {
	value, err := read(request.Value)
	if err != nil {
		return &Answer{Failure: err.Error()}
	}
	return &Answer{Converted: attempt(func() (cty.Value, error) {
		return request.Block.coerce(value)
	})}
}

func (b *Block) coerce(given cty.Value) (cty.Value, error) {
	switch {
	case given.IsNull():
		return cty.NullVal(b.impliedType()), nil
	case !given.IsKnown():
		return cty.UnknownVal(b.impliedType()), nil
	case !given.Type().IsObjectType():
		return cty.NilVal, fmt.Errorf("an object is required")
	}
	for name := range given.Type().AttributeTypes() {
		if b.Attributes[name] == nil && b.Blocks[name] == nil {
			return cty.NilVal, fmt.Errorf("unexpected attribute %q", name)
		}
	}
	members := map[string]cty.Value{}
	for name, attribute := range b.Attributes {
		value, err := attribute.coerce(given, name)
		if err != nil {
			return cty.NilVal, err
		}
		members[name] = value
	}
	for name, nested := range b.Blocks {
		value := nested.empty()
		if given.Type().HasAttribute(name) {
			var err error
			if value, err = nested.coerce(given.GetAttr(name)); err != nil {
				return cty.NilVal, err
			}
		}
		members[name] = value
	}
	return cty.ObjectVal(members), nil
}

func (a *Attribute) coerce(given cty.Value, name string) (cty.Value, error) {
	value := cty.NullVal(cty.DynamicPseudoType)
	switch {
	case given.Type().HasAttribute(name):
		value = given.GetAttr(name)
	case a.Required:
		return value, fmt.Errorf("attribute %q is required", name)
	}
	return convert.Convert(value, a.constraint())
}

func (n *Nested) coerce(given cty.Value) (cty.Value, error) {
	if n.Nesting == "single" || n.Nesting == "group" {
		return n.Block.coerce(given)
	}
	switch {
	case !given.IsKnown():
		return cty.UnknownVal(n.impliedType()), nil
	case !given.CanIterateElements():
		return cty.NilVal, fmt.Errorf("must be a %s", n.Nesting)
	case given.LengthInt() == 0:
		return n.empty(), nil
	}
	var elements []cty.Value
	named := map[string]cty.Value{}
	for it := given.ElementIterator(); it.Next(); {
		key, element := it.Element()
		element, err := n.Block.coerce(element)
		if err != nil {
			return cty.NilVal, err
		}
		elements = append(elements, element)
		if key.Type() == cty.String {
			named[key.AsString()] = element
		}
	}
	open := n.impliedType() == cty.DynamicPseudoType
	switch {
	case n.Nesting == "map" && len(named) == 0:
		return cty.NilVal, fmt.Errorf("must be a map")
	case n.Nesting == "map" && open:
		return cty.ObjectVal(named), nil
	case n.Nesting == "map":
		return cty.MapVal(named), nil
	case n.Nesting == "set":
		return cty.SetVal(elements), nil
	case open:
		return cty.TupleVal(elements), nil
	default:
		return cty.ListVal(elements), nil
	}
}

func (b *Block) empty() cty.Value {
	members := map[string]cty.Value{}
	for name, attribute := range b.Attributes {
		members[name] = cty.NullVal(attribute.constraint().WithoutOptionalAttributesDeep())
	}
	for name, nested := range b.Blocks {
		members[name] = nested.empty()
	}
	return cty.ObjectVal(members)
}

func (n *Nested) empty() cty.Value {
	ty := n.impliedType()
	switch {
	case n.Nesting == "single":
		return cty.NullVal(ty)
	case n.Nesting == "group":
		return n.Block.empty()
	case ty.IsListType():
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsMapType():
		return cty.MapValEmpty(ty.ElementType())
	case n.Nesting == "map":
		return cty.EmptyObjectVal
	default:
		return cty.EmptyTupleVal
	}
}

func (b *Block) impliedType() cty.Type {
	members := map[string]cty.Type{}
	for name, attribute := range b.Attributes {
		members[name] = attribute.constraint().WithoutOptionalAttributesDeep()
	}
	for name, nested := range b.Blocks {
		members[name] = nested.impliedType()
	}
	return cty.Object(members)
}

func (n *Nested) impliedType() cty.Type {
	block := n.Block.impliedType()
	open := block.HasDynamicTypes()
	switch {
	case (n.Nesting == "list" || n.Nesting == "map") && open:
		return cty.DynamicPseudoType
	case n.Nesting == "list":
		return cty.List(block)
	case n.Nesting == "set":
		return cty.Set(block)
	case n.Nesting == "map":
		return cty.Map(block)
	default:
		return block
	}
}

// constraint is what a configured value is converted to.
func (a *Attribute) constraint() cty.Type {
	if a.Attributes == nil {
		ty, err := ctyjson.UnmarshalType(a.Type)
		if err != nil {
			panic(err)
		}
		return ty
	}
	members := map[string]cty.Type{}
	var optional []string
	for name, attribute := range a.Attributes {
		members[name] = attribute.constraint()
		if attribute.Optional || attribute.Computed {
			optional = append(optional, name)
		}
	}
	object := cty.ObjectWithOptionalAttrs(members, optional)
	switch a.Nesting {
	case "list":
		return cty.List(object)
	case "set":
		return cty.Set(object)
	case "map":
		return cty.Map(object)
	default:
		return object
	}
}

// read is the reverse of notation, for the values that a configuration can hold.
func read(text json.RawMessage) (cty.Value, error) {
	var marked map[string]json.RawMessage
	if json.Unmarshal(text, &marked) != nil || marked == nil {
		ty, err := ctyjson.ImpliedType(text)
		if err != nil {
			return cty.NilVal, err
		}
		return ctyjson.Unmarshal(text, ty)
	}
	for kind, part := range marked {
		switch kind {
		case "null", "unknown":
			ty, err := ctyjson.UnmarshalType(part)
			if err != nil {
				return cty.NilVal, err
			}
			if kind == "null" {
				return cty.NullVal(ty), nil
			}
			return cty.UnknownVal(ty), nil
		case "tuple":
			var items []json.RawMessage
			if err := json.Unmarshal(part, &items); err != nil {
				return cty.NilVal, err
			}
			values := []cty.Value{}
			for _, item := range items {
				value, err := read(item)
				if err != nil {
					return cty.NilVal, err
				}
				values = append(values, value)
			}
			return cty.TupleVal(values), nil
		case "object":
			var members map[string]json.RawMessage
			if err := json.Unmarshal(part, &members); err != nil {
				return cty.NilVal, err
			}
			values := map[string]cty.Value{}
			for name, member := range members {
				value, err := read(member)
				if err != nil {
					return cty.NilVal, err
				}
				values[name] = value
			}
			return cty.ObjectVal(values), nil
		}
	}
	return cty.NilVal, fmt.Errorf("not a configured value: %s", text)
}
