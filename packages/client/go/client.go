package mailproof

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"time"
)

const (
	firstPoll   = 250 * time.Millisecond
	pollMax     = 5 * time.Second
	jobsPerPage = 100
	rowsPerPage = 1000
)

func getPollDelay(polls int) time.Duration {
	return min(firstPoll<<min(polls, 10), pollMax)
}

func isOpen(status JobStatus) bool {
	return status == JobStatusPending || status == JobStatusProcessing || status == JobStatusEnqueueUnknown
}

// Pages yields every page of a list: Pages(ctx, client.ListLedgerEntries, mailproof.ListLedgerEntriesInput{}).
func Pages[Input any, Page interface{ next(*Input) bool }](
	ctx context.Context, read func(context.Context, Input) (Page, error), input Input,
) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for {
			page, err := read(ctx, input)
			if !yield(page, err) || err != nil || !page.next(&input) {
				return
			}
		}
	}
}

// Jobs yields every job, newest first.
func (c *Client) Jobs(ctx context.Context, input ListJobsInput) iter.Seq2[JobSummary, error] {
	return func(yield func(JobSummary, error) bool) {
		if input.Limit == nil {
			input.Limit = Ptr(jobsPerPage)
		}
		for page, err := range Pages(ctx, c.ListJobs, input) {
			if err != nil {
				yield(JobSummary{}, err)
				return
			}
			for _, job := range page.Jobs {
				if !yield(job, nil) {
					return
				}
			}
		}
	}
}

// Results yields every result of a job, each once. Of a running job it yields each row when it is ready, and ends with
// the job.
func (c *Client) Results(ctx context.Context, id string) iter.Seq2[ResultRow, error] {
	return func(yield func(ResultRow, error) bool) {
		input := GetJobInput{ID: id, Limit: Ptr(rowsPerPage)}
		for polls := 0; ; {
			page, err := c.GetJob(ctx, input)
			if err != nil {
				yield(ResultRow{}, err)
				return
			}
			for _, row := range page.Results {
				if !yield(row, nil) {
					return
				}
			}
			if page.NextKey == nil {
				return
			}
			input.NextKey = page.NextKey
			// A short page does not mean that nothing more is ready.
			if len(page.Results) < rowsPerPage && isOpen(page.Status) {
				if err := sleep(ctx, getPollDelay(polls)); err != nil {
					yield(ResultRow{}, err)
					return
				}
				polls++
			}
		}
	}
}

// WaitForJob waits until the job ends, and returns it: look at its Status. The context ends the wait, but not the job.
func (c *Client) WaitForJob(ctx context.Context, id string) (*GetJobOutput, error) {
	for polls := 0; ; polls++ {
		job, err := c.GetJob(ctx, GetJobInput{ID: id, IncludeResults: Ptr(false)})
		if err != nil || !isOpen(job.Status) {
			return job, err
		}
		if err := sleep(ctx, getPollDelay(polls)); err != nil {
			return nil, err
		}
	}
}

// Upload sends a list and returns the file_key that ProcessFile takes. It is free.
func (c *Client) Upload(ctx context.Context, fileName string, file []byte) (string, error) {
	upload, err := c.CreateUpload(ctx, CreateUploadInput{FileName: fileName, FileSize: Ptr(len(file))})
	if err != nil {
		return "", err
	}
	create := func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodPut, upload.UploadURL, bytes.NewReader(file))
	}
	read := func(response *http.Response) error { return response.Body.Close() }
	return upload.FileKey, c.sendUntilAnswered(ctx, operation{}, "", uploadTimeout, create, read)
}

// Download returns the results of a job as CSV or .xlsx. Close it after reading.
func (c *Client) Download(ctx context.Context, input DownloadJobInput) (io.ReadCloser, error) {
	var file io.ReadCloser
	of := operation{route: "GET /v1/jobs/{id}/download", fixed: map[string]string{"format": "csv"}}
	err := c.send(ctx, of, input, nil, func(response *http.Response) error {
		file = response.Body
		return nil
	})
	return file, err
}
