// Plays the calls of test/journey/served/play.ts in Go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"strings"

	"mailproof.test/mailproof"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	client := must(mailproof.New(mailproof.Options{}))
	addresses := strings.Fields(os.Getenv("ADDRESSES"))
	address, emails := addresses[0], addresses[1:]

	input := mailproof.VerifyEmailInput{Email: address}
	first := must(client.VerifyEmail(ctx, input, mailproof.WithIdempotencyKey("go-1")))
	again := must(client.VerifyEmail(ctx, input, mailproof.WithIdempotencyKey("go-1")))

	job := must(client.VerifyBatch(ctx, mailproof.VerifyBatchInput{Emails: emails}))
	rows := [][]string{}
	for row, err := range client.Results(ctx, job.JobID) {
		must(row, err)
		rows = append(rows, []string{row.Email, string(row.Status)})
	}
	must(client.VerifyBatch(ctx, mailproof.VerifyBatchInput{Emails: []string{address}}))
	pages := []int{}
	for page, err := range mailproof.Pages(ctx, client.ListJobs, mailproof.ListJobsInput{Limit: mailproof.Ptr(1)}) {
		pages = append(pages, len(must(page, err).Jobs))
	}
	file := must(client.Download(ctx, mailproof.DownloadJobInput{ID: job.JobID, Filter: mailproof.Ptr("valid")}))
	csv := must(io.ReadAll(file))
	must(0, file.Close())

	_, err := client.GetAccount(ctx)
	var failure *mailproof.Error
	if !errors.As(err, &failure) {
		log.Fatal("the account was read")
	}
	refusal := map[string]any{"code": failure.Code, "money": failure.Money, "seconds": failure.RetryAfter.Seconds()}

	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": first.Status, "replay": again.IdempotentReplay, "rows": rows, "pages": pages,
		"csvLines": strings.Count(string(csv), "\n"), "refusal": refusal,
	}))
}
