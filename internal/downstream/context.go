package downstream

import "context"

// begin begins the context of a request.
func (c *conn) begin(r *Request) {
	r.ctx, r.end = context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end = r.end; c.left {
		r.end(nil)
	}
}

// finish ends the context of a request.
func (c *conn) finish(r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.end(nil)
	c.end = nil
}

// gone ends the context of the request that runs, and of those that follow: nobody
// waits for the answers.
func (c *conn) gone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left = true; c.end != nil {
		c.end(nil)
	}
}
