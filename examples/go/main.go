// The token ids of one request body, read from standard input: epptok-go DIRECTORY
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"example.com/epptok-go/epptok"
)

func main() {
	tokenizer, err := epptok.Open(epptok.Options{Model: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	defer tokenizer.Close()
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	ids, err := tokenizer.Tokenize(ctx, body)
	var failed *epptok.Error
	switch {
	case err == nil:
		fmt.Printf("%d ids: %v ...\n", len(ids), ids[:min(4, len(ids))])
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Println("no ids in time: route by load")
	case errors.As(err, &failed) && failed.Code == epptok.Backpressure:
		fmt.Println("the tokenizer is saturated: route by load")
	default:
		log.Print(err)
	}
}
