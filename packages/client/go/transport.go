// Package mailproof is a client of Mailproof: it verifies addresses and lists, finds addresses and checks domains. It
// needs nothing but the standard library.
//
//	client, err := mailproof.New(mailproof.Options{BaseURL: "https://api.example.com", Key: "mp_live_…"})
//	result, err := client.VerifyEmail(ctx, mailproof.VerifyEmailInput{Email: "ada@example.com"})
package mailproof

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// The longest pause before each retry. The last one applies to all further retries.
var delays = [...]time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 4 * time.Second, 10 * time.Second}

const (
	defaultRetries = len(delays)
	defaultTimeout = time.Minute
	uploadTimeout  = 10 * time.Minute
	// Beyond this Retry-After the client does not wait; the error has the time.
	retryAfterMax = 2 * time.Minute
	// Clients with the same Retry-After do not return at the same time.
	jitter = 250 * time.Millisecond
)

// Options of a client. An empty BaseURL or Key is read from MAILPROOF_API or MAILPROOF_KEY of the environment.
type Options struct {
	BaseURL string
	Key     string
	// Retries is the greatest number of retries. Nil: 4.
	Retries *int
	// Timeout of one attempt. Zero: one minute.
	Timeout time.Duration
	// HTTPClient sends the requests. Nil: http.DefaultClient.
	HTTPClient *http.Client
}

// Client of one service with one key. Every paid call has its own Idempotency-Key and is paid for once.
type Client struct {
	baseURL string
	key     string
	retries int
	timeout time.Duration
	http    *http.Client
}

// New creates a client.
func New(options Options) (*Client, error) {
	client := &Client{
		baseURL: strings.TrimRight(or(options.BaseURL, os.Getenv("MAILPROOF_API")), "/"),
		key:     or(options.Key, os.Getenv("MAILPROOF_KEY")),
		retries: defaultRetries,
		timeout: or(options.Timeout, defaultTimeout),
		http:    or(options.HTTPClient, http.DefaultClient),
	}
	if options.Retries != nil {
		client.retries = *options.Retries
	}
	if client.baseURL == "" || client.key == "" {
		return nil, errors.New("mailproof: BaseURL or Key is missing: pass it, or set MAILPROOF_API and MAILPROOF_KEY")
	}
	return client, nil
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value != zero {
		return value
	}
	return otherwise
}

// Ptr returns a pointer to the value, for optional fields.
func Ptr[T any](value T) *T { return &value }

// CallOption changes one paid call.
type CallOption func(*string)

// WithIdempotencyKey sends the call under your own key: requests with the same key are charged once.
func WithIdempotencyKey(key string) CallOption {
	return func(own *string) { *own = key }
}

// Error is a call that failed. Money says what happened to its price, and Message says it in a sentence.
type Error struct {
	// The service's code, or NETWORK, TIMEOUT, ABORTED or UNREADABLE for a response that did not come or was not the
	// service's.
	Code    string
	Message string
	// nothing_charged, nothing_more, refunded, kept, retry_same_key, repeat_search or unknown.
	Money string
	// The HTTP status; 0 without a response.
	Status int
	// Whether the call may be sent again, with IdempotencyKey where there is one, without a second charge.
	Retryable bool
	// Nil: the service named no time.
	RetryAfter     *time.Duration
	Details        json.RawMessage
	RequestID      string
	DocURL         string
	IdempotencyKey string
	cause          error
}

func (e *Error) Error() string { return "mailproof: " + e.Code + ": " + e.Message }

func (e *Error) Unwrap() error { return e.cause }

// Whether an operation may be sent again when its outcome is unknown.
type repetition int

const (
	always repetition = iota
	keyed
	never
)

// How one operation is sent.
type operation struct {
	route     string
	repeat    repetition
	paid      bool
	inQuery   bool
	unwrapped bool
	fixed     map[string]string
}

// Sends it until an answer comes.
func call[T any](ctx context.Context, c *Client, of operation, input any, options ...CallOption) (*T, error) {
	data := new(T)
	err := c.send(ctx, of, input, options, func(response *http.Response) error {
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		if of.unwrapped {
			return unreadable(json.Unmarshal(body, data))
		}
		envelope := struct {
			Success bool            `json:"success"`
			Data    json.RawMessage `json:"data"`
		}{}
		if err := json.Unmarshal(body, &envelope); err != nil || !envelope.Success {
			return errUnreadable
		}
		return unreadable(json.Unmarshal(envelope.Data, data))
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

var errUnreadable = errors.New("the response is not the service's")

func unreadable(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, of operation, input any, options []CallOption, read func(*http.Response) error) error {
	method, path, body, err := toRequest(of, input)
	if err != nil {
		return err
	}
	key := ""
	if of.repeat == keyed {
		for _, option := range options {
			option(&key)
		}
		key = or(key, rand.Text())
	}
	create := func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		// net/http does not send it on when a response redirects to another host.
		request.Header.Set("Authorization", "Bearer "+c.key)
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		if key != "" {
			request.Header.Set("Idempotency-Key", key)
		}
		return request, nil
	}
	return c.sendUntilAnswered(ctx, of, key, c.timeout, create, read)
}

func (c *Client) sendUntilAnswered(
	ctx context.Context, of operation, key string, timeout time.Duration,
	create func(context.Context) (*http.Request, error), read func(*http.Response) error,
) error {
	inDoubt := false
	for tries := 0; ; tries++ {
		failure, err := c.attempt(ctx, of, timeout, create, read)
		if err != nil || failure == nil {
			return err
		}
		failure.IdempotencyKey = key
		if inDoubt && failure.Money == "nothing_charged" {
			failure.Money = "retry_same_key"
			failure.Message = "An earlier attempt got no response. " + failure.Message + " " + sentences[failure.Money]
		}
		delay, waits := getDelay(tries, failure)
		if tries == c.retries || !waits || !mayRepeat(of, failure) {
			return failure
		}
		// Refused before any work: the attempt leaves no doubt.
		inDoubt = inDoubt || (failure.Code != "RATE_LIMITED" && failure.Money == "retry_same_key")
		if err := sleep(ctx, delay); err != nil {
			failure.Code, failure.cause = "ABORTED", err
			return failure
		}
	}
}

// A failure of the call, or an error in the calling code.
func (c *Client) attempt(
	ctx context.Context, of operation, timeout time.Duration,
	create func(context.Context) (*http.Request, error), read func(*http.Response) error,
) (*Error, error) {
	// The timeout ends when the response is read: a download is read by its caller.
	limited, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(timeout, cancel)
	defer timer.Stop()
	request, err := create(limited)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := c.http.Do(request)
	if err == nil && response.StatusCode >= 300 {
		defer cancel()
		return toRefusal(of, response), nil
	}
	if err == nil {
		response.Body = &body{response.Body, cancel}
		err = read(response)
	}
	if err != nil {
		defer cancel()
		return toLost(ctx, of, err, limited.Err() != nil), nil
	}
	return nil, nil
}

// A body that ends its request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func sleep(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// The fields of an input as path, query and body.
func toRequest(of operation, input any) (method, path string, body []byte, err error) {
	fields := map[string]json.RawMessage{}
	if input != nil {
		text, err := json.Marshal(input)
		if err != nil {
			return "", "", nil, err
		}
		if err := json.Unmarshal(text, &fields); err != nil {
			return "", "", nil, err
		}
	}
	for name, value := range of.fixed {
		fields[name], _ = json.Marshal(value)
	}
	method, path, _ = strings.Cut(of.route, " ")
	segments := strings.Split(path, "/")
	for at, segment := range segments {
		if name, isField := strings.CutPrefix(segment, "{"); isField {
			name = strings.TrimSuffix(name, "}")
			value := toText(fields[name])
			// An empty value would be another route.
			if value == "" {
				return "", "", nil, fmt.Errorf("mailproof: %s is required", name)
			}
			delete(fields, name)
			segments[at] = url.PathEscape(value)
		}
	}
	path = strings.Join(segments, "/")
	if (method == http.MethodPost || method == http.MethodPut) && !of.inQuery {
		if len(fields) > 0 || method == "PUT" {
			body, err = json.Marshal(fields)
		}
		return method, path, body, err
	}
	query := url.Values{}
	for name, value := range fields {
		if string(value) != "null" {
			query.Set(name, toText(value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return method, path, nil, nil
}

// A text without its quotes, a number or a boolean.
func toText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

var sentences = map[string]string{
	"nothing_charged": "Nothing was charged.",
	"retry_same_key":  "It may have been charged; sent again with the same idempotency key it is not charged twice.",
	"repeat_search":   "It may have been charged; the same search within its two minutes is not charged twice.",
}

func moneyWhenLost(of operation) string {
	switch {
	case of.repeat == keyed:
		return "retry_same_key"
	case of.paid:
		// Without a key the service recognizes only a repeated search, for two minutes.
		return "repeat_search"
	default:
		return "nothing_charged"
	}
}

// No response, or an incomplete one.
func toLost(ctx context.Context, of operation, cause error, isStopped bool) *Error {
	failure := &Error{Money: moneyWhenLost(of), Retryable: of.repeat != never, cause: cause}
	var dial *net.OpError
	switch {
	case ctx.Err() != nil:
		failure.Code, failure.Message, failure.Retryable = "ABORTED", "The call was aborted.", false
	case isStopped:
		failure.Code, failure.Message = "TIMEOUT", "No response within the timeout."
	case errors.Is(cause, errUnreadable):
		failure.Code, failure.Message = "UNREADABLE", "The response is not the service's."
	case errors.As(cause, &dial) && dial.Op == "dial":
		failure.Money, failure.Retryable = "nothing_charged", true
		failure.Code, failure.Message = "NETWORK", fmt.Sprintf("Could not connect to the service (%v).", dial.Err)
	default:
		failure.Code, failure.Message = "NETWORK", "The service did not respond: the connection failed, or broke."
	}
	failure.Message += " " + sentences[failure.Money]
	return failure
}

func toRefusal(of operation, response *http.Response) *Error {
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	failure := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: parseRetryAfter(response.Header.Get("Retry-After")),
	}
	var refusal struct {
		Error struct {
			Code      string          `json:"code"`
			Message   string          `json:"message"`
			Money     string          `json:"money"`
			Retryable bool            `json:"retryable"`
			Details   json.RawMessage `json:"details"`
			DocURL    string          `json:"doc_url"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &refusal); err == nil && refusal.Error.Code != "" && refusal.Error.Money != "" {
		said := refusal.Error
		failure.Code, failure.Message, failure.Money = said.Code, said.Message, said.Money
		failure.Details, failure.DocURL = said.Details, said.DocURL
		// Without a key only a request that certainly did nothing may be sent again.
		harmless := of.repeat != never || said.Code == "RATE_LIMITED" ||
			(of.paid && (said.Money == "nothing_charged" || said.Money == "refunded"))
		failure.Retryable = said.Retryable && harmless
		return failure
	}
	// A proxy responded in the service's place. Below 500 it rejected the request.
	limited := failure.Status == http.StatusTooManyRequests
	inside := failure.Status >= 500 || failure.Status == http.StatusRequestTimeout
	failure.Code, failure.Money = "UNREADABLE", "nothing_charged"
	if limited {
		failure.Code = "RATE_LIMITED"
	}
	if inside {
		failure.Money = moneyWhenLost(of)
	}
	failure.Retryable = limited || (inside && of.repeat != never)
	failure.Message = fmt.Sprintf("The response with status %d is not the service's. %s", failure.Status, sentences[failure.Money])
	return failure
}

// Seconds, from the service, or a date, which a gateway may send.
func parseRetryAfter(header string) *time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds >= 0 {
		return Ptr(time.Duration(seconds) * time.Second)
	}
	if date, err := http.ParseTime(header); err == nil {
		return Ptr(max(0, time.Until(date)))
	}
	return nil
}

func mayRepeat(of operation, failure *Error) bool {
	refused := failure.Status >= 400 && failure.Status < 500
	return failure.Code != "ABORTED" &&
		(failure.Retryable || (of.repeat == keyed && failure.Money == "retry_same_key" && !refused))
}

// The pause before the next attempt. False: longer than the client waits.
func getDelay(tries int, failure *Error) (time.Duration, bool) {
	backoff := time.Duration(mathrand.Float64() * float64(delays[min(tries, len(delays)-1)]))
	if failure.RetryAfter == nil {
		return backoff, true
	}
	after := *failure.RetryAfter
	return max(backoff, after+time.Duration(mathrand.Float64()*float64(jitter))), after <= retryAfterMax
}
