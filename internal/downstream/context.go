package downstream

import "context"

// begin begins the context of a request.
func (c *conn) begin(r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.ctx, r.end = context.WithCancelCause(context.Background())
	if c.left {
		r.end(nil)
	}
}

// gone ends the context of the request that runs, and of those that follow: nobody
// waits for the answers.
func (c *conn) gone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	if c.request.end != nil {
		c.request.end(nil)
	}
}
