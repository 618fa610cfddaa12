// What a customer does, with the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"mailproof.test/journey/client"
)

func expect(is, should any, what string) {
	if is != should {
		panic(fmt.Sprintf("%s is %v, not %v", what, is, should))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	url, secret := os.Args[1], os.Args[2]
	withKey := client.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Api-Key", secret)
		return nil
	})
	api := must(client.NewClientWithResponses(url, withKey))

	key := uuid.NewString()
	verify := func(email string) *client.VerifyEmailResponse {
		params := &client.VerifyEmailParams{IdempotencyKey: &key}
		return must(api.VerifyEmailWithResponse(ctx, params, client.VerifyEmailRequest{Email: email}))
	}
	first := must(verify("ann@example.com").JSON200.Data.AsVerifiedEmail())
	expect(string(first.Status), "valid", "the status")
	again := must(verify("ann@example.com").JSON200.Data.AsVerifiedEmail())
	expect(*again.IdempotentReplay, true, "the replay")

	emails := []string{"ann@example.com", "invalid@example.com", "info@example.com", "full@example.com"}
	batch := must(api.VerifyBatchWithResponse(ctx, nil, client.VerifyBatchRequest{Emails: emails}))
	id := batch.JSON202.Data.JobId
	limit := 3
	page := func(nextKey *string) client.GetJobOutput {
		params := &client.GetJobParams{Limit: &limit, NextKey: nextKey}
		return must(api.GetJobWithResponse(ctx, id, params)).JSON200.Data
	}
	job := page(nil)
	for ; job.Status != "completed"; job = page(nil) {
		time.Sleep(100 * time.Millisecond)
	}
	rows := len(*job.Results) + len(*page(job.NextKey).Results)
	expect(rows, len(emails), "the number of rows")
	csv := string(must(api.DownloadJobWithResponse(ctx, id, nil)).Body)
	expect(strings.Count(csv, "\r\n"), len(emails)+1, "the number of lines")

	wanted := client.CreateWebhookRequest{
		Url:    "https://hooks.example.com/mailproof",
		Events: []client.EventName{"job.completed"},
	}
	webhook := must(api.CreateWebhookWithResponse(ctx, wanted)).JSON201.Data
	removed := must(api.DeleteWebhookWithResponse(ctx, webhook.Id)).JSON200.Data
	expect(removed.Deleted, true, "the removal")

	refused := must(api.VerifyEmailWithResponse(ctx, nil, client.VerifyEmailRequest{Email: ""}))
	expect(string(refused.JSON400.Error.Code), "INVALID_REQUEST", "the error")
	fmt.Println("played it through")
}
