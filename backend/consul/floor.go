package consul

import (
	"github.com/hashicorp/consul/api"
)

// floor is the value of the prefix's floor key: no election without a counter was ever granted a token above Highest, so that the first new one must be. Each election that is forgotten makes
// it another, so that its index tells a claim that saw no record because there was none yet from one that is granted after the election was forgotten.
type floor struct {
	Highest   int64 `json:"highest"`
	Forgotten int64 `json:"forgotten"` // elections so far
}

// stand notes the floor as it was read together with the election's keys.
func (v *view) stand(key string, pair *api.KVPair) error {
	v.floorIndex = pair.ModifyIndex
	if v.floorIndex == 0 {
		return nil
	}
	return decode(key, pair.Value, &v.floor)
}

// ground is what the next token is above: an election without a counter goes on above the floor.
func (v *view) ground() int64 {
	if v.counterIndex == 0 {
		return max(v.counter.Highest, v.floor.Highest)
	}
	return v.counter.Highest
}

// grounded is what a transaction that makes a counter compares, beside the election's keys.
func (v *view) grounded(n names) []*api.KVTxnOp {
	if v.counterIndex == 0 {
		return []*api.KVTxnOp{expect(n.floor(), v.floorIndex)}
	}
	return nil
}
