package main

import (
	"time"

	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// bench times the library's codecs on one value, without the cost of asking.
func bench(request *Request) *Answer {
	ty, err := ctyjson.UnmarshalType(request.Type)
	if err != nil {
		return &Answer{Failure: err.Error()}
	}
	value, err := msgpack.Unmarshal(request.Msgpack, ty)
	if err != nil {
		return &Answer{Failure: err.Error()}
	}
	text, err := ctyjson.Marshal(value, ty)
	if err != nil {
		return &Answer{Failure: err.Error()}
	}
	each := map[string]func() error{
		"msgpack_encode": func() error { _, err := msgpack.Marshal(value, ty); return err },
		"msgpack_decode": func() error { _, err := msgpack.Unmarshal(request.Msgpack, ty); return err },
		"json_encode":    func() error { _, err := ctyjson.Marshal(value, ty); return err },
		"json_decode":    func() error { _, err := ctyjson.Unmarshal(text, ty); return err },
	}
	took := map[string]float64{}
	for name, operation := range each {
		start := time.Now()
		for range request.Count {
			if err := operation(); err != nil {
				return &Answer{Failure: err.Error()}
			}
		}
		took[name] = float64(time.Since(start).Nanoseconds()) / float64(request.Count)
	}
	return &Answer{Nanoseconds: took}
}
