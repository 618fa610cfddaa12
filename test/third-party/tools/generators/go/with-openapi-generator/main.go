// Plays a customer's calls with the client that openapi-generator makes.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"mailproof.test/journey/openapi"
)

func expect(is, should any) {
	if is != should {
		log.Fatalf("%v instead of %v", is, should)
	}
}

func must[T, Response any](value T, _ Response, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Args[1]}}
	configuration.AddDefaultHeader("X-Api-Key", os.Args[2])
	client := openapi.NewAPIClient(configuration)

	ask := *openapi.NewVerifyEmailRequest("ann@example.com")
	verify := func() *openapi.VerifiedEmail {
		call := client.VerificationAPI.VerifyEmail(ctx).VerifyEmailRequest(ask).IdempotencyKey("go-generated")
		return must(call.Execute()).Data.VerifiedEmail
	}
	expect(verify().Status, openapi.VALID)
	expect(verify().GetIdempotentReplay(), true)

	emails := []string{"ann@example.com", "invalid@example.com"}
	body := *openapi.NewVerifyBatchRequest(emails)
	id := must(client.VerificationAPI.VerifyBatch(ctx).VerifyBatchRequest(body).Execute()).Data.JobId
	job := must(client.JobsAPI.GetJob(ctx, id).Execute()).Data
	for job.Status != openapi.COMPLETED {
		time.Sleep(100 * time.Millisecond)
		job = must(client.JobsAPI.GetJob(ctx, id).Execute()).Data
	}
	for at, row := range job.Results {
		expect(row.Email, emails[at])
	}
	fmt.Println("played it through")
}
