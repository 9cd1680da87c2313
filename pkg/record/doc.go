// Package record is the form in which traffic is written down: JSON lines, one
// header and then one line a request, without any text of a prompt. The gateway
// writes it (gatewayd serve --record), benchlab reads and writes it as its own
// trace form.
//
//	{"format":"gatewayd.record/1","start":"2026-01-02T03:04:05Z","block_bytes":512}
//	{"at_ns":1200000,"model":"m","session":"9c1e02a4d5f60718","stream":true,"prompt_bytes":2100,
//	 "prompt_tokens":540,"output_tokens":31,"outcome":"completed","ttft_ns":52000000,
//	 "e2e_ns":910000000,"blocks":[8127,4416,9001,77]}
//
// (each on one line). Lines stand in the order in which requests ended; a reader
// sorts them by arrival. Unknown fields are to be ignored, so that fields can be
// added without a new format.
package record
