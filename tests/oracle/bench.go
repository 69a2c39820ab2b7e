package main

import (
	"math"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// Time given to each operation, in as many rounds as fit, and the least number of rounds.
const (
	patience = 300 * time.Millisecond
	rounds   = 5
)

// bench times the library's codecs on some values, without the cost of asking: the best round counts.
func bench(request *Request) *Answer {
	ty, err := ctyjson.UnmarshalType(request.Type)
	if err != nil {
		return &Answer{Failure: err.Error()}
	}
	var values []cty.Value
	var texts [][]byte
	for _, message := range request.Messages {
		value, err := msgpack.Unmarshal(message, ty)
		if err != nil {
			return &Answer{Failure: err.Error()}
		}
		text, err := ctyjson.Marshal(value, ty)
		if err != nil {
			return &Answer{Failure: err.Error()}
		}
		values, texts = append(values, value), append(texts, text)
	}
	each := map[string]func(int) error{
		"msgpack_encode": func(i int) error { _, err := msgpack.Marshal(values[i], ty); return err },
		"msgpack_decode": func(i int) error { _, err := msgpack.Unmarshal(request.Messages[i], ty); return err },
		"json_encode":    func(i int) error { _, err := ctyjson.Marshal(values[i], ty); return err },
		"json_decode":    func(i int) error { _, err := ctyjson.Unmarshal(texts[i], ty); return err },
	}
	took := map[string]float64{}
	for name, operation := range each {
		best := math.Inf(1)
		begun := time.Now()
		for round := 0; round < rounds || time.Since(begun) < patience; round++ {
			start := time.Now()
			for i := range values {
				if err := operation(i); err != nil {
					return &Answer{Failure: err.Error()}
				}
			}
			best = min(best, float64(time.Since(start).Nanoseconds()))
		}
		took[name] = best
	}
	return &Answer{Nanoseconds: took}
}
