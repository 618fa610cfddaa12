// What every field means. The name of the component or of the field above stands before it where the field means
// another thing there. A test holds that every field of the document has words, and that no words are left over.

export const PARAMETER_WORDS: Readonly<Record<string, string>> = {
  "path.id": "Whose it is: its id.",
  "path.delivery_id": "The delivery's id.",
  "path.email": "The address, percent-encoded.",
  "path.domain":
    "The domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted.",
  "query.limit": "How many at most. A larger number is cut to the largest page.",
  "query.status": "Only jobs in this state.",
  "query.offset": "The `next_offset` of the page before.",
  "query.next_key":
    "The `next_key` of the previous page. Following it from the first page to a page without one returns every row exactly once, also while the job runs.",
  "query.include_results": "`false` leaves the results out. Any other value includes them.",
  "query.format":
    "`csv`, with the columns of your own file beside ours, or `json`. Case does not matter.",
  "query.filter":
    "Which rows. `invalid` also gives disposable; `risky` also catch_all, role and spam_trap; `unknown` also rows without a status. Case does not matter.",
  "query.rows":
    "`verified`: the rows that have a result. `all`: every row of the list, in its order; `row_outcome` says why a row has no result. Cannot be combined with a filter. Case does not matter.",
  "query.delimiter":
    "Separates the cells of a CSV: `comma`, `semicolon` or `tab`. Left out: the delimiter of your own file. Not for `format=json`. Case does not matter.",
  "query.from": "The first day. By default 29 days before the last.",
  "query.to": "The last day. By default today (UTC).",
};

export const COMPONENT_WORDS: Readonly<Record<string, string>> = {
  VerificationStatus:
    "valid: deliverable. invalid: will bounce. risky: may be deliverable. unknown: could not be found out. catch_all: the domain accepts everybody. disposable: a temporary address. role: belongs to a role. spam_trap: a known trap.",
  VerifiedEmail: "What an address came to.",
  PendingVerification:
    "The verification takes longer than `timeout_ms`, or a later attempt may find out more, as with a server that greylists. The job has the result. It is charged once, with this request.",
  ResultRow: "What one row of a job came to.",
  ExportedRow: "A row with its result, and what stood in the list.",
  RowSelection: "Which rows of the list an export has.",
  UnverifiedRow: "A row of the list without a result.",
  ListFacts: "What was found in a file, and its first rows without an address.",
  JobStatus:
    "pending: it waits. processing: it goes on. completed: every address has its result. failed: see `error`. cancelled: nothing makes it so today. enqueue_unknown: of some addresses it is not known whether they are queued; their credits are held.",
  JobCompletedEvent: "A job is done, and its results can be read.",
  JobFailedEvent: "A job came to nothing.",
  CreditsLowEvent: "A call left less than a tenth of the last grant. Told once per crossing.",
  CreditsDepletedEvent: "A call left less than one credit. Told once per crossing.",
  BlacklistDetectedEvent: "A watched domain, or the address it sends from, is on a blocklist.",
  DmarcFailedEvent: "A watched domain's DMARC record is missing, wrong or toothless.",
  WebhookTestEvent: "Somebody wanted to see whether anything arrives.",
};

export const FIELD_WORDS: Readonly<Record<string, string>> = {
  // What everything has.
  id: "Its id.",
  type: "Which event it is.",
  name: "What it is called.",
  status: "Where it stands.",
  score: "0 to 100. Left out when it is not known.",
  "reputation.score":
    "0 to 100. In a deliverability check: null when no blocklist returned a verdict. In a domain's activity: left out when `level` is `unknown`.",
  domain: "The domain in lower case, internationalised labels as A-labels (xn--…).",
  domain_unicode:
    "The domain with internationalised labels in Unicode. Otherwise equal to `domain`.",
  email: "The address.",
  message: "In a sentence, for people.",
  error: "Why, and what it means for the money.",
  data: "What happened.",
  count: "How many are in this answer.",
  total: "How many there are.",
  created_at: "When it was made.",
  url: "The HTTPS address that is called.",
  events: "Which events it is told of.",
  "RecordActivityRequest.events": "What became of your mails.",
  results: "What the addresses came to, in the order of the input.",
  "GetJobResult.results":
    "The next results: those that are ready and that no page before returned, in the order of the input. Left out when there are none.",

  // Money.
  credits_used: "Credits charged by this request.",
  credits_remaining: "The balance after it. Left out where it could not be read.",
  credits_refunded: "Given back, for addresses that could not be queued.",
  "JobSummary.credits_refunded":
    "Credits refunded of this job, for addresses that could not be queued, that failed on our side, or that are `unknown` only because no mail server was asked. Present when the job has ended; left out when there are none.",
  "GetJobResult.credits_refunded":
    "Credits refunded of this job, for addresses that could not be queued, that failed on our side, or that are `unknown` only because no mail server was asked. Present when the job has ended; left out when there are none.",
  credits_held: "Charged, but neither spent nor refunded yet.",
  credits_granted: "Credits that came in.",
  idempotent_replay: "True: this is the answer to an earlier request, and charged nothing.",
  cached: "It was found out within the last 24 hours, for this account.",

  // A verified address.
  quality_score: "0 to 100: 90 excellent, 70 good, 50 fair, below that poor.",
  reason: "Why it has this status: a code for programs.",
  "ignored.reason": "Why it does not count.",
  sub_status: "The reason, finer; null where there is nothing more to say.",
  provider: "Who runs the mail host, where we know.",
  verification: "What was proven, step by step.",
  syntax_valid: "It is written as an address is.",
  domain_exists:
    "True when DNS has the domain. Left out when that is not known: the look-up failed, or none was made. `reason` or `sub_status` says why.",
  mx_found: "There is a host that takes its mail.",
  smtp_check: "That host was asked, and answered about this address.",
  mailbox_exists: "The host accepts this address, and refuses strangers.",
  catch_all: "The host accepts every address of the domain.",
  flags: "What kind of address it is.",
  disposable: "Of a service for addresses that are thrown away.",
  role_account: "Of a role, such as info or sales.",
  free_provider: "Of a provider where anybody gets a mailbox.",
  spam_trap: "Kept by somebody who looks for senders without consent.",
  honeypot: "Kept to catch harvesters.",
  bot_generated: "Looks as if a machine had made it.",
  enrichment: "What the address tells about its owner.",
  first_name: "The first name.",
  last_name: "The last name.",
  full_name: "Both, or nothing.",
  gender: "Always `unknown`: a name does not tell.",
  ai: "Numbers that are made here and can be checked by hand. Left out when `include_ai` is false.",
  typo_suggestion: "What was probably meant, where the domain's mail does not work.",
  typo_confidence: "How probably, from 0 to 1.",
  catch_all_confidence:
    "Probability that the mailbox exists, 0 to 1. Present only when the domain accepts every address, or may: it accepted this one and was not seen to refuse another.",
  evidence: "Everything that led to it: DNS answers, the SMTP transcript, the score as a sum.",
  checks_skipped:
    "The checks of `verification` that were not made, because the mail server was not asked. Left out when it was asked, or did not have to be.",
  verified_at: "When it was found out.",
  row: "Its row in what you sent, from 1.",

  // What to verify.
  "VerifyEmailRequest.email":
    "The address to verify. Text that is no address is answered with the status `invalid`.",
  include_activity: "Also what is known of its opens and clicks, at no extra cost.",
  options: "How thorough to be.",
  deep_verify:
    "Ask the mail server about the mailbox. `false`: only syntax, lists and DNS are checked, `checks_skipped` names the checks left out, and a result that is `unknown` only for that reason costs nothing; a job refunds it when it ends.",
  include_ai: "Also the numbers in `ai`.",
  include_evidence: "Also everything that led to the result.",
  timeout_ms:
    "How long to wait for the result, in milliseconds. A value below 100 counts as 100, one above 25,000 as 25,000. A verification that takes longer goes on as a job. A repeat under the same Idempotency-Key may have another value.",
  "VerifyBatchRequest.emails": "The addresses. One that comes twice is verified and charged once.",
  "GetActivityBatchRequest.emails": "The addresses.",
  "VerifyBatchRequest.name": "What the job is called.",
  "ProcessFileRequest.name": "What the job is called. Left out: the name of the file.",
  webhook_url:
    "Called over HTTPS when the job is done. Signed only where a secret was sent: else take it as a hint to read the job.",
  "ListCallbacksResult.webhook_url":
    "The address that is called when the job ends. Left out when it has none.",
  webhook_secret: "Signs that call, by Standard Webhooks: 1 to 256 characters of your choice.",
  action: "Which of the two steps.",
  file_name: "The name of the file, ending in .csv or .txt.",
  file_key: "What the upload is called. Send it back to process the file.",
  email_column: "The header or the number of the column with the addresses. Left out: it is found.",
  has_header: "Whether the first row names the columns. Left out: it is seen.",
  "FileAccepted.file": "What was found in the file.",
  "ListFacts.email_column": "The name of the column with the addresses.",
  email_column_index: "The number of that column, from 0.",
  other_email_columns: "Other columns that hold addresses. They are not verified.",
  "ListFacts.has_header": "The first row names the columns.",
  "ListFacts.columns": "The names of the first 20 columns.",
  column_count: "How many columns the file has.",
  encoding: "The character encoding of the file.",
  delimiter:
    "`comma`, `semicolon`, `tab`, `pipe`, `none` in a file of one column, or the character itself.",
  skipped_rows:
    "The first 10 rows without an address. For all of them export the job with `rows=all`.",
  "skipped_rows.row":
    "The number of the row in the file, from 1. The header counts; blank lines do not.",
  "skipped_rows.text": "The text of the e-mail cell, cut after 100 characters.",
  "skipped_rows.reason": "What is wrong with it: a code for programs.",
  upload_url: "PUT the file here, unchanged. Whoever has this address can write the file.",
  expires_in_seconds: "How long the address works.",
  next_step: "What to do now, in a sentence.",

  // Jobs.
  job_id: "The job: read it at GET /v1/jobs/{id}.",
  jobs: "The jobs, newest first.",
  kind: "What it was made by: one address that took long, a batch, or a file.",
  total_emails: "How many addresses were sent.",
  unique_emails: "How many of them are verified, and charged.",
  duplicates_removed: "How many came twice.",
  total_submitted: "Rows that were read, also those that are no addresses.",
  invalid_emails_skipped: "Rows that are no addresses: neither charged nor in the job.",
  enqueue_unknown: "Addresses of which it is not known whether they are queued.",
  dispatch_in_progress:
    "An earlier request with this key is still queueing. Send the same again after Retry-After, or follow the job.",
  dispatch_settlement_pending: "All are queued; the credits are not settled yet.",
  progress: "How far it is.",
  processed: "How many are done.",
  processed_emails: "How many are done: what an export is measured against.",
  deferred:
    "The addresses of a running job that wait for another attempt, because their mail host or DNS could not answer yet. Absent when none waits.",
  by_reason: "The number of waiting addresses for each reason.",
  "DeferredAddresses.count": "The number of waiting addresses.",
  "DeferredAddresses.next_attempt_at":
    "When the first of them is attempted again, ISO 8601. A time in the past: the attempt is under way.",
  max_wait_minutes:
    "The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. What could not be found out by then is unknown, with its reason.",
  valid: "How many are valid.",
  invalid: "How many are invalid or disposable.",
  risky: "How many are risky, catch_all, role or spam_trap.",
  unknown: "How many are unknown, or have no status.",
  "JobProgress.total": "How many addresses it has.",
  "EndProgress.total": "How many addresses it has.",
  completed_at: "When it was over.",
  next_key:
    "Cursor for the next page, at most 2,000 characters. Present while the job runs, even on a page without results: send it later for the rows that are ready by then. Left out when the job is over and every row was returned, and with `include_results=false`.",
  next_offset: "Where the next page begins. Left out on the last.",
  has_more: "There is another page.",
  total_is_approximate: "We stopped counting: there are at least so many.",
  format: "What it is written in.",
  filter: "Which rows are in it.",
  complete: "The job is over and every row it counts was read. Look at this first.",
  expected_rows:
    "How many rows the export should have by now: those that the filter lets through of the rows that have a result. While the job goes on the number grows.",
  rows_missing: "How many of them could not be read just now.",
  rows_pending: "Addresses of the job without a result yet.",
  rows: "Which rows of the list the export has.",
  row_outcome:
    "`verified`: the row has a result. `pending`: it has none yet. `duplicate`: its address is that of the row `duplicate_of`. `skipped`: it holds no address, or several. `not_queued`: it could not be queued and was refunded. `missing`: its result cannot be read.",
  duplicate_of: "The row with the same address, which has the result.",
  skip_reason: "What is wrong with the e-mail cell: a code for programs.",
  skip_message: "What is wrong with the e-mail cell, in a sentence.",
  submitted: "The text that was sent. `email` holds the address that was read from it.",
  "ExportedRow.columns": "The cells of the row, by the names of the list's columns.",
  "UnverifiedRow.columns": "The cells of the row, by the names of the list's columns.",
  download_url: "The whole export. Works without a key, for a while.",
  expires_at: "When the address stops working.",

  // Find.
  "FindEmailRequest.domain":
    "The company's mail domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted.",
  "FindEmailResult.email": "The address settled on. Null does not mean that there is none.",
  confidence: "0 to 100: how sure it is.",
  pattern: "How the domain seems to name its mailboxes, such as first.last.",
  verified: "The mailbox was proven to exist.",
  "FindEmailResult.status": "What came of it. Look at this, and not at whether there is an email.",
  "FindEmailResult.credits_used": "Credits this search costs, also when it was charged before.",

  // Activity.
  activity: "Opens and clicks of people.",
  last_seen:
    "When this address last opened or clicked, ISO 8601. Left out when no open or click is recorded.",
  last_open: "When this address last opened, ISO 8601. Left out when no open is recorded.",
  last_click: "When this address last clicked, ISO 8601. Left out when no click is recorded.",
  engagement_level:
    "high: active within 30 days. medium: within 90. low: longer ago. unknown: nothing is known.",
  total_opens: "All opens.",
  total_clicks: "All clicks.",
  opens_last_30d: "Opens of the last 30 days.",
  clicks_last_30d: "Clicks of the last 30 days.",
  machine_events: "Opens and clicks of programs. They are in none of the others.",
  deliverability: "What happened to mail for this address, as shares from 0 to 1.",
  "deliverability.status":
    "known: all three rates are present. partly_known: some are. not_known: none is, because no delivery or bounce is recorded.",
  inbox_rate:
    "Share of sent messages that were delivered without a complaint, 0 to 1. Left out when it is not known.",
  spam_rate:
    "Share of delivered messages with a spam complaint, 0 to 1. Left out when it is not known.",
  bounce_rate: "Share of sent messages that bounced, 0 to 1. Left out when it is not known.",
  "GetDomainReputationResult.reputation": "How its addresses take mail.",
  level: "In a word.",
  trend: "Whether it gets better.",
  metrics: "Figures of the last 30 days.",
  "metrics.status":
    "known: all figures are present. partly_known: some rates are left out. not_known: fewer than 20 addresses have events, too few to show as a group.",
  total_emails_tracked: "Number of addresses with events. 0 when `status` is `not_known`.",
  avg_engagement_rate:
    "Share of delivered messages that were opened or clicked, 0 to 1. Left out when it is not known.",
  avg_bounce_rate: "Share of sent messages that bounced, 0 to 1. Left out when it is not known.",
  spam_complaint_rate:
    "Share of delivered messages with a spam complaint, 0 to 1. Left out when it is not known.",
  blacklist_status: "Whether a blocklist lists the domain.",
  "blacklist_status.status":
    "known: at least one blocklist returned a verdict. not_known: none did.",
  "blacklist_status.listed":
    "True when at least one blocklist lists the domain. Left out when `status` is `not_known`.",
  "events.id": "Your own id of the event: told twice, it counts once.",
  "events.type": "What happened.",
  "events.email": "To whom the mail went.",
  occurred_at: "When it happened, with the offset from UTC.",
  delivered_at: "When the mail was delivered, where you know.",
  user_agent: "The User-Agent header of the open or click.",
  machine: "You know that it was a program, or that it was none.",
  received: "How many were sent.",
  accepted: "How many count.",
  duplicates: "How many had been told before.",
  ignored: "Those that do not count, and why.",

  // Deliverability.
  "CheckDomainRequest.domain":
    "The sending domain, such as example.com. White space around it, a URL with its port and path, a final dot, capitals and Unicode or A-labels are accepted. `www.` is part of the name.",
  "CreateMonitorRequest.domain": "The domain to watch, written as for a deliverability check.",
  sending_ip: "The sending IPv4 address. Left out when the request named none.",
  "CheckDomainRequest.sending_ip":
    "The public IPv4 address that sends, for reverse DNS and blocklists. Leave it out if there is none. A private or reserved address is refused; test keys accept 192.0.2.0/24.",
  "CreateMonitorRequest.sending_ip":
    "The public IPv4 address that sends, for reverse DNS and blocklists. Leave it out if there is none. A private or reserved address is refused; test keys accept 192.0.2.0/24.",
  refresh: "Do not take a result of the last 24 hours: check anew, and pay.",
  check_id: "The check: read it at GET /v1/deliverability/checks/{id}.",
  checks: "The checks, newest first.",
  truncated: "Not the whole history was looked at.",
  checked_at: "When it was found out.",
  grade: "A to F.",
  "CheckSummary.confidence":
    "high: every part was answered. medium: parts with half of the score's weight or more. low: less than half. Left out for checks of the first release.",
  "CheckDomainResult.confidence":
    "high: every part was answered. medium: parts with half of the score's weight or more. low: less than half, so the grade rests on little.",
  "GetCheckResult.confidence":
    "high: every part was answered. medium: parts with half of the score's weight or more. low: less than half, so the grade rests on little.",
  "last_check.confidence":
    "high, medium or low: how much of the score's weight was answered. Left out for checks of the first release.",
  missing_parts:
    "The parts that could not be looked up. They are left out of the score, and no recommendation is about them.",
  model_version: "Which rules the score was made by.",
  score_parts: "How the score is made.",
  components: "What it is the weighted mean of.",
  component: "Which one.",
  weight: "How much it counts.",
  before_cap: "What the parts come to.",
  capped_by: "The cap that lowered the score. Left out when no cap did.",
  dns: "Where mail for the domain goes.",
  mx_records: "Its mail hosts.",
  priority: "The lower, the sooner it is tried.",
  host: "Its name.",
  ip: "Its address; null where it has none.",
  "DnsSection.status":
    "Result of the MX check. `error`: the look-up failed, so `has_valid_mx` and `mx_score` are not known and left out.",
  has_valid_mx: "True when the domain can receive mail. Left out when `status` is `error`.",
  mx_score: "0 to 100. Left out when `status` is `error`.",
  authentication: "How receivers can tell its mail from forged mail.",
  spf: "Who may send in its name.",
  dkim: "Which keys sign its mail.",
  dmarc: "What receivers do with forged mail.",
  "SpfSection.status":
    "Result of the SPF check. `error`: the look-up failed, so `score` is left out.",
  "DkimSection.status":
    "Result of the DKIM check. `error`: the look-up failed, so `score` is left out.",
  "DmarcSection.status":
    "Result of the DMARC check. `error`: the look-up failed, so `score` is left out.",
  record: "The record as published in DNS. Left out when none was found.",
  record_domain:
    "The domain that publishes the record: this one or a parent. Left out when none was found.",
  policy: "The policy the record requests for this domain. Left out when there is none.",
  lookups: "DNS look-ups that reading it takes. Ten are allowed.",
  void_lookups: "Those that found nothing. Two are allowed.",
  result_for_sending_ip:
    "The SPF result for `sending_ip`. Left out when no `sending_ip` was given or there is no result.",
  selectors_found: "Under which names keys were found.",
  issues: "What is wrong with it.",
  severity: "How grave it is.",
  detail: "What it is about: names, numbers.",
  cost_points: "What it costs of the section's score.",
  reputation: "What blocklists say.",
  blacklists_checked: "Lists that gave a verdict.",
  blacklists_inconclusive: "Lists that did not answer, or not to the point.",
  blacklists_skipped: "Lists that were not asked.",
  blacklists_total: "All lists.",
  blacklists_listed: "Lists that have it.",
  listed_on: "Which ones.",
  "listed_on.listed": "What was looked up.",
  codes: "What the list answered.",
  says: "What that means.",
  removal_url: "Where to ask for removal. Empty where we do not know.",
  server:
    "What is known of the sending server. No mail server is asked, so some of it is always null.",
  accepts_mail: "Not measured.",
  response_time_ms: "Not measured.",
  supports_tls: "Not measured.",
  tls_version: "Not measured.",
  reverse_dns_status:
    "Result of the reverse DNS check. not_checked: no `sending_ip` was given. error: the look-up failed, so the score is left out.",
  reverse_dns:
    "The host name of `sending_ip` (PTR). Left out when there is none or it is not known.",
  reverse_dns_confirmed:
    "True when that name resolves back to `sending_ip`. Left out when it is not known.",
  reverse_dns_score: "0 to 100. Left out when it is not known.",
  spam_assessment: "How a filter sees whoever sends in its name.",
  "SpamAssessment.score": "The sum of the points, 100 at most. Less is better.",
  spam_likelihood: "In a word.",
  factors: "What speaks for it and against it.",
  impact: "Whether it helps.",
  points: "How much it counts.",
  description: "Why.",
  recommendations: "What to do first: what regains most is on top.",
  text: "What to do.",
  points_regained: "What the score gains by it.",
  monitors: "The domains that are watched, newest first.",
  monitor_id: "Its id.",
  interval_hours: "How often it is checked.",
  next_check_at: "When it is checked next.",
  last_check: "What the last run found.",
  last_problem: "Why the last run came to nothing; null when it did not.",
  deleted: "It is gone.",

  // Webhooks.
  webhooks: "The webhooks, oldest first.",
  secret: "Signs what is sent. Shown in this answer, and never again.",
  disabled_because:
    "asked: by its owner. failing: nothing arrived for five days. gone: the address answered 410.",
  failing_since: "Since when every try has failed.",
  deliveries: "What was sent, newest first.",
  delivery: "What came of it.",
  delivered: "It answered with 2xx.",
  event: "What it told of.",
  "ListWebhookEventsResult.events": "Every name that can be subscribed to.",
  event_id: "Also in the header webhook-id, the same on each try.",
  attempts: "How often it was tried.",
  response_status: "What the address answered last.",
  latency_ms: "How long that took.",
  "Delivery.error": "Why the last try failed: a code for programs.",
  last_attempt_at: "When it was tried last.",
  next_attempt_at: "When it is tried next.",
  account_id: "The account.",
  webhook_id: "The webhook.",
  threshold: "The line that was crossed, in credits.",
  "BalanceNews.available": "What was left, in credits.",

  // The account.
  plan: "What it may do.",
  plans: "The plans.",
  credits: "Its balance.",
  "credit_packs.credits": "How many credits are in it.",
  available: "To be spent.",
  held: "Charged, and not settled yet.",
  spent: "Gone for good.",
  refunded: "Given back, in all.",
  granted: "Came in, in all.",
  max_addresses_per_job: "How many addresses a job may have.",
  requests_per_minute: "How many requests a key may send in a minute.",
  retention_days: "How long results are kept.",
  price_cents_per_month: "In US cents, before tax.",
  price_cents: "In US cents, before tax.",
  credit_packs: "What credits are sold in.",
  credits_per_operation: "What each operation costs.",
  currency: "What prices are in.",
  from: "The first day.",
  to: "The last day.",
  totals: "Of all these days.",
  days: "Days on which something moved.",
  date: "The day (UTC).",
  api_keys: "The keys, newest first.",
  key: "The key in use.",
  "CreateApiKeyResult.key": "The key. Shown in this answer, and never again.",
  key_id: "Its id: what to revoke it by.",
  hint: "Its beginning and its end, to tell keys apart.",
  mode: "live: works for real. test: made-up answers, no charge.",
  scopes: "What the key is limited to. Null: it may do everything.",
  "CreateApiKeyRequest.scopes": "What the key is limited to. Left out: it may do everything.",
  revoked: "It opens nothing any more.",

  // Health.
  "GetHealthResult.status": "degraded: look at `checks`.",
  timestamp: "When it was asked.",
  service: "Who answers.",
  version: "Which version.",
  "GetHealthResult.checks": "What it depends on.",
  table: "The state.",
  queue: "The queues.",
  blobs: "The files.",
  "checks.dns": "DNS. failed: no name server has answered any question for a minute.",
};
