package epptok

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// EPPTOK_TEST_MODEL is a model directory.
func open(t *testing.T) *Tokenizer {
	t.Helper()
	tokenizer, err := Open(Options{Model: os.Getenv("EPPTOK_TEST_MODEL"), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func chat(text string) []byte {
	return []byte(fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, text))
}

// Long enough to be still at work when the test looks at its watch.
func longChat() []byte { return chat(strings.Repeat("one two, three. ", 600_000)) }

func within(t *testing.T, limit time.Duration, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > limit {
		t.Errorf("it took %v, more than %v", took, limit)
	}
}

func TestGoroutinesGetTheirOwnIDs(t *testing.T) {
	tokenizer := open(t)
	defer tokenizer.Close()
	const goroutines = 64
	body := func(i int) []byte { return chat(strings.Repeat(fmt.Sprintf("caller %d ", i), 1+i*3)) }
	expected := make([][]uint32, goroutines)
	for i := range expected {
		ids, err := tokenizer.Tokenize(context.Background(), body(i))
		if err != nil {
			t.Fatal(err)
		}
		expected[i] = ids
	}
	if slices.Equal(expected[0], expected[1]) {
		t.Fatal("different bodies gave the same ids")
	}

	var group sync.WaitGroup
	for i := range expected {
		i := i
		group.Add(1)
		go func() {
			defer group.Done()
			for range [5]struct{}{} {
				ids, err := tokenizer.Tokenize(context.Background(), body(i))
				if err != nil || !slices.Equal(ids, expected[i]) {
					t.Errorf("goroutine %d: %d ids, error %v", i, len(ids), err)
				}
			}
		}()
	}
	group.Wait()
}

func TestSmallBodyOfManyTokens(t *testing.T) {
	tokenizer := open(t)
	defer tokenizer.Close()
	// One id takes up to six bytes of this body; a batch comes back in one piece.
	ids, err := tokenizer.Tokenize(context.Background(), []byte(`{"prompt":[[1,2,3],[4,5]]}`))
	if err != nil || !slices.Equal(ids, []uint32{1, 2, 3, 4, 5}) {
		t.Errorf("%v, error %v", ids, err)
	}
}

func TestDeadlineOfTheContext(t *testing.T) {
	tokenizer := open(t)
	defer tokenizer.Close()
	body := longChat()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	ids, err := tokenizer.Tokenize(ctx, body)
	if ids != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d ids, error %v", len(ids), err)
	}
	within(t, 3*time.Second, start)
}

func TestCancelOfTheContext(t *testing.T) {
	tokenizer := open(t)
	defer tokenizer.Close()
	body := longChat()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	_, err := tokenizer.Tokenize(ctx, body)
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	within(t, 3*time.Second, start)
	if _, err := tokenizer.Tokenize(ctx, chat("Hi")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with a context that is done: error %v", err)
	}
}

func TestErrorsCarryCodeAndMessage(t *testing.T) {
	tokenizer := open(t)
	_, err := tokenizer.Tokenize(context.Background(), []byte(`{"messages":[]}`))
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != InvalidRequest || !strings.Contains(failed.Message, "messages") {
		t.Errorf("an empty list of messages: error %v", err)
	}
	if _, err = tokenizer.Tokenize(context.Background(), nil); !errors.As(err, &failed) || failed.Code != InvalidRequest {
		t.Errorf("no body: error %v", err)
	}
	tokenizer.Close()
	if _, err = tokenizer.Tokenize(context.Background(), chat("Hi")); !errors.As(err, &failed) || failed.Code != InvalidHandle {
		t.Errorf("a closed tokenizer: error %v", err)
	}
	if _, err = Open(Options{Model: "/nowhere"}); !errors.As(err, &failed) || !strings.Contains(failed.Message, "/nowhere") {
		t.Errorf("a directory that is missing: error %v", err)
	}
}
