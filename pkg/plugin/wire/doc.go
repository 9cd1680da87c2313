// Package wire holds the messages of the strategy protocol and their
// conversion from and to the values of package router. It is internal to
// package plugin and follows docs/protocol/strategy/v1/strategy.proto.
//
// encode*.go turn values into messages; they cannot fail, because text that is
// not UTF-8 is repaired on the way. decode*.go turn messages into values; they
// check whatever could make a reader of the value fail (lengths, ranges,
// unknown enum values) and return errors that name the broken rule. Nothing
// here keeps its arguments: messages and values share no slices.
package wire
