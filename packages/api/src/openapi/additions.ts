// Additions to the contract that are not routes. An additional route is marked in its endpoint.

export type Addition = {
  /** The fields, values or rules, each name between backticks. */
  readonly what: string;
  readonly why: string;
};

export const ADDITIONS: readonly Addition[] = [
  {
    what: "`verification.not_known`",
    why: "The six booleans are always there; the list names those that are false because nothing was found out.",
  },
  {
    what: "`reason`, `sub_status`, `provider`; `include_evidence` and `evidence`",
    why: "A status without its reason and its evidence cannot be checked.",
  },
  {
    what: "`control` with its `token`, `nonce` and `origin`; `proof`",
    why: "A browser can prove that its user controls an address, which no mail server can.",
  },
  {
    what: "`include_receipt` and `receipt`",
    why: "A back end checks what a browser passes on without a call.",
  },
  {
    what: "`deep_verify` and `include_ai` of a list",
    why: "A list has the options of one address.",
  },
  {
    what: "`max_wait_minutes`",
    why: "Temporary failures are retried for hours; a caller may want an end earlier.",
  },
  {
    what: "`email_column`, `has_header`, `name`, `webhook_url` and `options` in both steps of a file; `file_size`",
    why: "A file has the options of a batch in each of its forms; a size that is known is refused before the upload.",
  },
  {
    what: "`email_columns`, `skip_settled` and `vendor` of a file; `settled_skipped`; `elsewhere` of a row and a summary",
    why: "A row often has two addresses, or a verdict that another service was paid for.",
  },
  {
    what: "`continues`, `fresh_days` and `action: preview` of a file; `compared`; `origin` of a filter; `history` of a row",
    why: "Next week's list has mostly the same addresses: it costs only those without a good result.",
  },
  {
    what: "`filter`, `q`, `sort`, `skip`, `columns` and `facets` of a job's rows; `summary`, `matching_rows`",
    why: "A person looks through a list of half a million rows.",
  },
  {
    what: "`as=spreadsheet`, `as=zip`, `q`, terms in `filter`, `selection`, `delimiter` and `send` of an export; `X-Export-` headers; 303 for a long one on AWS",
    why: "Office programs read them without an import; `format` has the contract's two values.",
  },
  {
    what: "`kind` in the query of the jobs",
    why: "Each visitor of a form is a job. They must not hide the lists.",
  },
  {
    what: "`rows_pending`, `kind`, `deferred`, `credits_refunded`, `continues_job_id`, `new_emails`, `kept_emails` of a job",
    why: "Rows that are retried are neither done nor missing, and a refund is seen where it happened.",
  },
  {
    what: "`domain` of the history, `flatten` of a check; `confidence`, `score_parts`, `after_records`",
    why: "A score is a sum that can be followed, and a recommendation is shown with its effect.",
  },
  {
    what: "A URL as `domain`; `domain_unicode`",
    why: "People paste addresses of pages. The answer names the domain that was checked.",
  },
  {
    what: "A private or reserved `sending_ip` is 400",
    why: "No receiver sees it: the check would cost credits and say nothing. The contract refuses other texts there.",
  },
  {
    what: "The events `dmarc.ready` and `webhook.test`",
    why: "The first says that a stricter policy is safe; the second is the test event, which the contract does not name.",
  },
  {
    what: "`status` of a webhook, `event` of its test; `disabled_because`, `failing_since`",
    why: "A receiver that is gone ends its deliveries, and its owner sees why and enables it again.",
  },
  {
    what: "The status `cancelled`",
    why: "The contract's filter accepts it, but nothing produced it; a cancelled job has it.",
  },
  {
    what: "`checks` and `lists` in the health body",
    why: "An operator sees which part has failed and how old the lists are.",
  },
  {
    what: "`error.code`, `money`, `details`, `doc_url`; 405, 413 for bodies, 415, 501",
    why: "The contract has the message; programs need what it says as values.",
  },
  {
    what: "`/docs`, `/openapi.json`, `/postman.json`, `/llms.txt`, `/status`, `/app/`",
    why: "Documents, the page of the status and the dashboard are not operations of the contract.",
  },
];
