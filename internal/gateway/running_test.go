package gateway

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestRunning holds that every request that runs is ended when its own time is up, and
// none that has left.
func TestRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := running{limit: 10 * time.Second}
		ended := map[string]time.Duration{}
		began := time.Now()
		enter := func(name string) *exchange {
			x := &exchange{start: time.Now()}
			x.stop = func(why error) {
				if _, again := ended[name]; again {
					return
				}
				if ended[name] = time.Since(began); why != errTotal { //nolint:errorlint // it is not wrapped
					t.Errorf("%s ended by %v", name, why)
				}
			}
			l.enter(x)
			return x
		}
		enter("first")
		<-time.After(time.Second)
		left := enter("left")
		<-time.After(time.Second)
		last := enter("last")
		l.leave(left)
		idle := l.none()
		<-time.After(5 * time.Second)
		enter("late")
		<-time.After(time.Minute)
		synctest.Wait()
		want := map[string]time.Duration{"first": 10 * time.Second, "last": 12 * time.Second, "late": 17 * time.Second}
		for name, at := range want {
			if ended[name] != at {
				t.Errorf("%s ended after %v, want %v", name, ended[name], at)
			}
		}
		if len(ended) != len(want) {
			t.Errorf("ended: %v", ended)
		}
		l.leave(last)
		select {
		case <-idle:
			t.Error("idle, although some run")
		default:
		}
		for l.first != nil {
			l.leave(l.first)
		}
		<-idle
		<-l.none()
	})
}

// TestRunningRests holds that nothing of a list stays behind when nobody runs.
func TestRunningRests(t *testing.T) {
	l := running{limit: time.Hour}
	x := &exchange{start: time.Now()}
	l.enter(x)
	if l.rest(); l.timer == nil {
		t.Error("the timer rests, although a request runs")
	}
	l.leave(x)
	if l.rest(); l.timer != nil {
		t.Error("the timer goes on, although nobody runs")
	}
	if l.last != nil || l.first != nil {
		t.Error("somebody is left")
	}
}
