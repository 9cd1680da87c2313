package engine

// queue is the FCFS line of requests that wait for admission. Preempted ones
// return to its front.
type queue struct {
	seqs []*sequence
	head int // seqs[:head] is free room for push to the front
}

func (q *queue) len() int         { return len(q.seqs) - q.head }
func (q *queue) all() []*sequence { return q.seqs[q.head:] }
func (q *queue) front() *sequence { return q.seqs[q.head] }
func (q *queue) push(s *sequence) { q.seqs = append(q.seqs, s) }
func (q *queue) clear()           { clear(q.seqs); q.seqs, q.head = q.seqs[:0], 0 }

func (q *queue) pop() *sequence {
	s := q.seqs[q.head]
	q.seqs[q.head] = nil
	q.head++
	if q.head > 64 && q.head > len(q.seqs)/2 {
		n := copy(q.seqs, q.seqs[q.head:])
		clear(q.seqs[n:])
		q.seqs, q.head = q.seqs[:n], 0
	}
	return s
}

func (q *queue) pushFront(s *sequence) {
	if q.head == 0 {
		const room = 16
		grown := make([]*sequence, room+len(q.seqs), 2*(room+len(q.seqs)))
		copy(grown[room:], q.seqs)
		q.seqs, q.head = grown, room
	}
	q.head--
	q.seqs[q.head] = s
}

// remove takes out a sequence wherever it stands.
func (q *queue) remove(s *sequence) {
	for i := q.head; i < len(q.seqs); i++ {
		if q.seqs[i] == s {
			copy(q.seqs[i:], q.seqs[i+1:])
			q.seqs[len(q.seqs)-1] = nil
			q.seqs = q.seqs[:len(q.seqs)-1]
			return
		}
	}
}
