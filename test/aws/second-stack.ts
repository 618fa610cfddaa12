// The stories that also run over DynamoDB, SQS, S3 and Lambda handlers. Both stacks run the same domain code, and the contracts of
// the ports (test/contract, test/functions) hold each adapter to one behaviour. So a story runs again only if it depends on a
// property that the second stack has in another form; the others would prove the same code twice.

const STORIES = {
  /** A request, a response or an item is near a limit: 6 MB of a Lambda, 400 KB of an item, parts of an upload. */
  sizes: ["download-job", "download-job-large", "get-job-rows", "upload-report"],
  /** A message is one of a batch, is delayed, or belongs to a group. */
  batches: ["chunked-jobs", "mails", "verify-file-dispatch", "webhook-deliveries"],
  /** A list is read from an index, which lags behind the table, or in pages that a filter shortens. */
  indexes: ["deferred", "list-events", "list-jobs", "monitors"],
  /** Several items change together or not at all, also when a reply is lost or a request is repeated. */
  transactions: [
    "cancel-job",
    "continued-lists",
    "delete-job",
    "find-email",
    "limits",
    "passkeys",
    "people-oidc",
    "verify-again",
    "verify-email-keys",
  ],
  /** A link is signed by one stack and read by the other end; a version of a blob is pinned. */
  links: ["erase-data", "unreadable-lists", "verify-file", "verify-file-list"],
  /** A Lambda reads headers, cookies, forms and bodies from an event. test/contract/http.test.ts holds what all routes share. */
  events: ["failures", "passkeys", "people", "verify-batch", "verify-email"],
} as const;

export const STORIES_ON_AWS: readonly string[] = Object.values(STORIES).flat();
