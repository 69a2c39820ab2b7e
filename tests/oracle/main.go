// Oracle answers, in JSON lines, what OpenTofu's and Terraform's own value library makes of types and values.
//
// Every request is one line with an "op"; every answer is one line. A library panic is an answer, too.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// Request is one line of input; which fields count depends on Op.
type Request struct {
	Op      string          `json:"op"`
	Type    json.RawMessage `json:"type"`
	Types   []cty.Type      `json:"types"`
	To      json.RawMessage `json:"to"`
	Msgpack []byte          `json:"msgpack"`
	Other   []byte          `json:"other"`
	JSON    string          `json:"json"`
	Seed    uint64          `json:"seed"`
	// Messages to time the codecs with, all of Type.
	Messages [][]byte        `json:"messages"`
	Block    Block           `json:"block"`
	Value    json.RawMessage `json:"value"`
}

// Result is a value, or why there is none.
type Result struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Answer is one line of output.
type Answer struct {
	// Type of the value, where it was asked for or generated.
	Type json.RawMessage `json:"type,omitempty"`
	// FromMsgpack and FromJSON are what the given bytes mean.
	FromMsgpack *Result `json:"from_msgpack,omitempty"`
	FromJSON    *Result `json:"from_json,omitempty"`
	// Msgpack and JSON are how the value is written; JSON is absent if it cannot be.
	Msgpack []byte  `json:"msgpack,omitempty"`
	JSON    *string `json:"json,omitempty"`
	// Converted to the type asked for.
	Converted *Result `json:"converted,omitempty"`
	// Equals the other value: true, false, or null for undecided.
	Equals    *bool `json:"equals"`
	RawEquals bool  `json:"raw_equals"`
	// Nanoseconds for all messages, by operation.
	Nanoseconds map[string]float64 `json:"nanoseconds,omitempty"`
	// Failure of the whole request.
	Failure string `json:"failure,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if err := answers.Encode(answer(line)); err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
			os.Exit(1)
		}
		if err := out.Flush(); err != nil {
			return
		}
	}
}

func answer(line []byte) (answer *Answer) {
	defer func() {
		if cause := recover(); cause != nil {
			answer = &Answer{Failure: fmt.Sprintf("panic: %v", cause)}
		}
	}()
	var request Request
	if err := json.Unmarshal(line, &request); err != nil {
		return &Answer{Failure: err.Error()}
	}
	switch request.Op {
	case "check":
		return check(&request)
	case "unify":
		ty, _ := convert.UnifyUnsafe(request.Types)
		if ty == cty.NilType {
			return &Answer{}
		}
		return &Answer{Type: typeJSON(ty)}
	case "generate":
		return generate(request.Seed)
	case "bench":
		return bench(&request)
	case "coerce":
		return coerce(&request)
	default:
		return &Answer{Failure: fmt.Sprintf("unknown op %q", request.Op)}
	}
}

// check reads the given bytes, writes the value again, and compares and converts it.
func check(request *Request) *Answer {
	ty, err := ctyjson.UnmarshalType(request.Type)
	if err != nil {
		return &Answer{Failure: err.Error()}
	}
	answer := &Answer{}
	if request.JSON != "" {
		answer.FromJSON = attempt(func() (cty.Value, error) {
			return ctyjson.Unmarshal([]byte(request.JSON), ty)
		})
	}
	if request.Msgpack == nil {
		return answer
	}
	var value cty.Value
	answer.FromMsgpack = attempt(func() (v cty.Value, err error) {
		value, err = msgpack.Unmarshal(request.Msgpack, ty)
		return value, err
	})
	if answer.FromMsgpack.Error != "" {
		return answer
	}
	write(answer, value, ty)
	if request.Other != nil {
		other, err := msgpack.Unmarshal(request.Other, ty)
		if err != nil {
			return &Answer{Failure: err.Error()}
		}
		if equal := value.Equals(other); equal.IsKnown() {
			is := equal.True()
			answer.Equals = &is
		}
		answer.RawEquals = value.RawEquals(other)
	}
	if request.To != nil {
		to, err := ctyjson.UnmarshalType(request.To)
		if err != nil {
			return &Answer{Failure: err.Error()}
		}
		answer.Converted = attempt(func() (cty.Value, error) {
			return convert.Convert(value, to)
		})
	}
	return answer
}

func attempt(get func() (cty.Value, error)) (result *Result) {
	defer func() {
		if cause := recover(); cause != nil {
			result = &Result{Error: fmt.Sprintf("panic: %v", cause)}
		}
	}()
	value, err := get()
	if err != nil {
		return &Result{Error: err.Error()}
	}
	return &Result{Value: notation(value)}
}

func write(answer *Answer, value cty.Value, ty cty.Type) {
	bytes, err := msgpack.Marshal(value, ty)
	if err != nil {
		answer.Failure = err.Error()
		return
	}
	answer.Msgpack = bytes
	if text, err := ctyjson.Marshal(value, ty); err == nil {
		text := string(text)
		answer.JSON = &text
	}
}

func typeJSON(ty cty.Type) json.RawMessage {
	text, err := ctyjson.MarshalType(ty)
	if err != nil {
		panic(err)
	}
	return text
}
