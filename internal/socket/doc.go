// Package socket is TCP connections whose reads and writes are cheaper for the runtime.
//
// The net package tells the scheduler of each system call, for it might block. Those on
// a non-blocking socket do not. Where little is to be done the telling costs more than
// the call: it wakes the runtime's monitor, whose thread then competes for the core.
package socket
