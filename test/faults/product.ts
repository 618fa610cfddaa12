import type { Fault } from "./fault.ts";

// Bugs outside of money and deployment: dashboard, exports, reports, erasure, command line, clients and documents.
// npx node test/faults/plant.ts plants them one after the other, and each must make one of its test files fail.

const inFile =
  (file: string, ...tests: readonly string[]) =>
  (what: string, from: string, to: string): Fault => ({ what, file, from, to, tests });

const inDashboard = (file: string, ...screens: readonly string[]) =>
  inFile(`packages/dashboard/src/${file}`, ...screens.map((name) => `dashboard/${name}`));
const inExports = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/core/src/exports/${file}`, ...tests);
const inReports = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/core/src/deliverability/reports/${file}`, ...tests);
const inErasure = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/core/src/erasure/${file}`, ...tests);
const inCommand = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/local/src/cli/${file}`, ...tests);

const inMail = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/mail/src/${file}`, ...tests);

const inSmtpPool = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/core/src/smtp-pool/${file}`, ...tests.map((name) => `core/smtp-pool/${name}`));

const csv = inExports("csv.ts", "core/exports/formats", "story/download-job-list");
const bounded = (file: string) => inFile(file, "fuzz/bounds.long");
const aws = (file: string, ...tests: readonly string[]) =>
  inFile(`packages/functions/src/aws/${file}`, ...tests);

const rotated = (file: string) => inFile(`packages/core/src/${file}`, "story/rotated-secrets");

const continued = (file: string) => inFile(`packages/core/src/${file}`, "story/continued-lists");

export const FAULTS: readonly Fault[] = [
  aws("invoke.ts", "functions/metrics")(
    "the trace of a request ends before the prober",
    "...readTraceHeader(process.env),",
    "",
  ),
  rotated("lib/cursor.ts")(
    "a cursor of the secret before is refused",
    "(cursorSecretBefore !== null && isSignedWith(cursorSecretBefore))",
    "false",
  ),
  rotated("lib/secret-box.ts")(
    "a new secret is encrypted with the sealing key before",
    "deriveKey(world.settings.encryptionKey), iv)",
    "deriveKey(world.settings.encryptionKeyBefore ?? world.settings.encryptionKey), iv)",
  ),
  rotated("lib/secret-box.ts")(
    "a secret of the sealing key before is not decrypted",
    "encryptionKeyBefore === null",
    "encryptionKeyBefore !== undefined",
  ),
  rotated("receipts/receipt-keys.ts")(
    "the key set lacks the keys of the sealing key before",
    "listOf(encryptionKeyBefore)",
    "[]",
  ),
  rotated("activity/record.ts")(
    "an event that was counted under the activity key before is counted again",
    "getEarlierHashes)",
    "() => [])",
  ),
  rotated("activity/record.ts")(
    "a new event does not continue the record of the activity key before",
    "before ?? (await findEarlierRecord(world, earlier))",
    "before",
  ),
  rotated("calibration/items.ts")(
    "a bounce under the activity key before is forgotten",
    "before === undefined ? undefined : findVerdictItem(table, before)",
    "undefined",
  ),
  continued("lists/accept-list.ts")(
    "a continued list charges the addresses that keep their result",
    "(list.unique - countTaken(list)) * each",
    "list.unique * each",
  ),
  continued("lists/chunk-worker.ts")(
    "a worker verifies addresses that keep an earlier result",
    "taken?.has(row[0]) ? [] : ",
    "",
  ),
  continued("lists/earlier-results.ts")(
    "a continued list keeps a result that is too old",
    " && verifiedAt >= oldest",
    "",
  ),
  continued("lists/earlier-results.ts")(
    "a preview counts no row with other cells",
    "changed += 1",
    "changed += 0",
  ),
  continued("lists/repair-job.ts")(
    "the reconciler takes a chunk with kept results for a finished one",
    "if (!isUntouched(chunk)) found",
    "found",
  ),
  continued("lists/new-job.ts")(
    "the results that an unpaid list kept stay stored",
    "remove: toDeletionKey(job), where: { chunks: 0 } }",
    "remove: toDeletionKey(job) }",
  ),
  continued("lists/again.ts")(
    "rows that are not new are verified again with origin:new",
    "?.(row) === false) return undefined;",
    "?.(row) === null) return undefined;",
  ),
  continued("exports/exported-rows.ts")(
    "an export with origin:new has every row",
    "isOrigin?.(row) !== false && ",
    "",
  ),
  continued("find-rows/count-facets.ts")(
    "a count includes rows that the chosen origin excludes",
    "if (isOrigin?.(row) === false) continue;",
    "",
  ),
  continued("find-rows/row-history.ts")(
    "the history of a row ends after one list",
    "continues = earlier.continues",
    "continues = undefined",
  ),
  continued("lists/continue-list.ts")(
    "a list continues one that has not ended",
    "if (!isOpenJob(earlier)) return;",
    "return;",
  ),
  inFile("packages/core/src/lists/again.ts", "story/verify-again")(
    "the summary of a corrected list leaves out rows that were at the meant domain before",
    "[toDomainField(meant)]: rows",
    "[toDomainField(meant)]: 0",
  ),
  inFile("packages/core/src/rows/deferrals.ts", "story/deferred")(
    "the latest end of a list ignores the time that its rows have waited",
    "maxWaitMinutes - countWaitedMinutes(causes)",
    "maxWaitMinutes",
  ),
  inSmtpPool("process-rules.ts", "gathering")(
    "a long list on a busy thread opens a session for each row",
    " || isHeld)",
    ")",
  ),
  inSmtpPool("scheduler.ts", "gathering")(
    "the pool looks at every host queue after each session of a long list",
    "{ any: isShort, ",
    "{ any: true, ",
  ),
  inFile("packages/local/src/server/start.ts", "local/command-loading")(
    "each start loads the modules of the metrics",
    "import type { Counters }",
    "import { type Counters }",
  ),
  inFile("packages/core/src/rows/attempt.ts", "core/rows/deferrals")(
    "each pass judges the rows whose verification continues",
    "if (deferral) return",
    "if (deferral && toResult(world, limits, attempted)) return",
  ),
  inFile("packages/local/src/storage/item-cache.ts", "local/counts")(
    "a cached call selects the items again that the last call wrote",
    "if (isNew || !json || json.length > JSON_MAX) items.delete(id);",
    "items.delete(id);",
  ),
  inFile("packages/local/src/storage/sqlite.ts", "local/counts")(
    "a cached call waits for a second flush",
    "disk.flush(goOn);",
    "disk.flush(() => disk.flush(goOn));",
  ),
  inFile("packages/core/src/calibration/account-history.ts", "local/counts")(
    "each row of a list looks for a bounce, though none was reported",
    "    if (bounceFree) return null;\n",
    "",
  ),
  inFile("packages/core/src/smtp-pool/witnesses.ts", "core/smtp-pool/witnesses")(
    "a refused witness changes no result",
    "watched.proofs.refusedAt > 0 ? disprove : markUnproven(key)",
    "watched.proofs.refusedAt > Infinity ? disprove : markUnproven(key)",
  ),
  inFile("packages/core/src/smtp-pool/circuit-breaker/circuit.ts", "core/smtp-pool/witnesses")(
    "a refused witness opens no circuit",
    "    isProven ||\n",
    "",
  ),
  inFile("packages/core/src/rows/attempt.ts", "story/witnesses")(
    "a pass stores a refusal that a witness has disproved",
    "findTakenBack(world, outcome, outcome.unproven)",
    "findTakenBack(world, outcome, undefined)",
  ),
  inFile("packages/core/src/lists/chunk-worker.ts", "story/witnesses")(
    "a stored refusal stays when a witness disproves it",
    "!job.single && attempted.some(isDisproved)",
    "!job.single && attempted.length < 0",
  ),
  inFile("packages/core/src/rows/replace-rows.ts", "story/witnesses")(
    "a refusal that is taken back stays charged",
    "...(!child && toRefundFields(countRefunds(parent, after))),",
    "",
  ),
  inFile("packages/mail/src/smtp/classify.ts", "core/verify/fresh-refusals")(
    "two refusals in the same words differ by the names of their mailboxes",
    "normalizeText(replaceWord(text, local))",
    "normalizeText(text)",
  ),
  inFile("packages/core/src/smtp-pool/catch-all-probe.ts", "core/verify/fresh-refusals")(
    "an acceptance of a random recipient counts as a refusal",
    'if (verdict === "valid") return "yes";',
    'if (verdict === "valid") return "no";',
  ),
  inFile("packages/core/src/smtp-pool/session.ts", "core/verify/fresh-refusals")(
    "an acceptance is believed where no random recipient was decided",
    'state.acceptsEveryone) return "yes";',
    'state.acceptsEveryone) return "no";',
  ),
  inFile("packages/core/src/smtp-pool/catch-all-probe.ts", "core/verify/fresh-refusals")(
    "a refusal in one job proves the acceptances of another job",
    "`${requester.job} ${domain}`",
    "domain",
  ),
  inFile("packages/core/src/smtp-pool/session.ts", "core/verify/fresh-refusals")(
    "a refusal at one mail host proves the acceptances of another host",
    " && outcome.host === expectedHost",
    "",
  ),
  inFile("packages/core/src/smtp-pool/catch-all-cache.ts", "core/verify/fresh-refusals")(
    "one refusal proves every later acceptance of its job",
    "(left ?? 0) - count",
    "left ?? 0",
  ),
  inFile("packages/core/src/smtp-pool/catch-all-probe.ts", "core/verify/fresh-refusals")(
    "a refusal in unknown words is about the mailbox, though nobody was accepted",
    "hasAccepted(result, domain)\n        ?",
    "true\n        ?",
  ),
  inSmtpPool("process-rules.ts", "shared-slots")(
    "an account opens sessions without end while others wait",
    "open >= OPEN_TO_FREE * free",
    "free <= 0",
  ),
  inSmtpPool("process-rules.ts", "shared-slots")(
    "several sessions find out at once whether a backoff is over",
    "provider.failures > 0 ? 1 : provider.connections",
    "provider.connections",
  ),
  inSmtpPool("process-rules.ts", "shared-slots")(
    "a host gets more sessions than it may have",
    "host.sessions >= slotKey.slots.length",
    "host.sessions > slotKey.slots.length",
  ),
  inSmtpPool("process-rules.ts", "shared-slots", "gathering")(
    "a lone caller waits for others",
    "hasJustOpened && sessions > 0",
    "hasJustOpened",
  ),
  inSmtpPool("slots/local-slots.ts", "throttles")(
    "a process alone opens sessions during a backoff",
    "if (isBackingOff(closing, atMs))",
    "if (closing.failures > 99)",
  ),
  inSmtpPool("slots/end-session.ts", "scheduler")(
    "a refusal tells one account about another's recipient",
    "return redactRefusal({ host, ip, stage: ending.stage, reply: ending.reply });",
    "return { host, ip, stage: ending.stage, reply: ending.reply };",
  ),
  inSmtpPool("slots/run-with-slot.ts", "circuit-breaker.long")(
    "a circuit learns nothing from the replies of a session",
    "const own = replies.filter(({ host }) => getProviderKey(host) === providerKey);",
    "const own = replies.filter(({ host }) => host === providerKey);",
  ),
  inDashboard("session.ts", "sign-in")(
    "the key outlives its tab",
    "into().setItem(STORED[name], value)",
    "localStorage.setItem(STORED[name], value)",
  ),
  inDashboard("router.ts", "reach", "frame")(
    "a click on the open screen adds an entry to the history",
    "if (replace || isHere) history.replaceState",
    "if (replace) history.replaceState",
  ),
  inDashboard("screens/list/filter.ts", "list")(
    "a second click on a column does not reverse its order",
    "sort === column ? `-${column}` : column",
    "sort === `-${column}` ? sort : column",
  ),
  inDashboard("screens/list/download.tsx", "list")(
    "a download ignores the filter of the table",
    '...(file === "every" ? { id: rows.id } : rows), ...OPTIONS[file]',
    "id: rows.id, ...OPTIONS[file]",
  ),
  inDashboard("parts/csv-button.tsx", "usage", "operator")(
    "a CSV of the dashboard has live formulas",
    "/^[=+\\-@\\t\\r]/.test(cell)",
    "/^[+\\-@\\t\\r]/.test(cell)",
  ),
  inDashboard("screens/operator/command.tsx", "operator")(
    "a command that cannot be undone runs without a question",
    "confirm === undefined ? action.run() : setAsked(true)",
    "action.run()",
  ),
  inDashboard("screens/domain-reports/upload.tsx", "domain-reports")(
    "a report that was there before is shown as new",
    '{data.duplicate ? "stored before" : "stored"}',
    "stored",
  ),
  inDashboard(
    "parts/error-panel.tsx",
    "every-screen-faults",
    "verify",
    "list",
  )(
    "an error shows no request id",
    "error instanceof MailproofError ? error.requestId : undefined",
    "error instanceof MailproofError ? undefined : undefined",
  ),
  inDashboard(
    "format.ts",
    "usage",
    "domain-reports",
    "overview",
  )(
    "a day of UTC is shown as the day before in America",
    'month: "short", timeZone: "UTC" }',
    'month: "short" }',
  ),

  csv("a cell with | is not quoted", '/[",;|\\t\\r\\n]|^\\s|\\s$/', '/[",;\\t\\r\\n]|^\\s|\\s$/'),
  csv("a formula with a full-width sign is live", "/^[=@\\t\\r\\n＝＠]/", "/^[=@\\t\\r\\n]/"),
  csv(
    "cells beyond the header are lost",
    ".concat(blanks, resultCells, listCells.slice(width))",
    ".concat(blanks, resultCells)",
  ),
  inExports(
    "write-spreadsheet.ts",
    "core/exports/formats",
    "story/download-job-list",
    "local/spreadsheet",
  )("a spreadsheet rounds card numbers", "[1-9]\\d{0,9})", "[1-9]\\d{0,19})"),
  inExports(
    "missing-rows.ts",
    "story/download-job-incomplete",
    "core/exports/make-export",
    "story/download-job",
  )(
    "a CSV with missing rows passes for a complete one",
    "if (one.read < one.chunk.rows) throw",
    "if (one.read < one.chunk.rows / 2) throw",
  ),
  inExports(
    "exported-rows.ts",
    "story/download-job",
    "story/download-job-list",
    "core/exports/formats",
  )(
    "the filter risky leaves out spam traps",
    '"catch_all", "role", "spam_trap"] },\n  unknown',
    '"catch_all", "role"] },\n  unknown',
  ),

  inReports("merge-reports.ts", "story/get-domain-reports", "core/deliverability/readiness")(
    "an older report's policy is shown as the present one",
    "else if (!newest || report.end > newest.end) newest = report;",
    "else if (!newest || report.end < newest.end) newest = report;",
  ),
  inReports("accept-report-mail.ts", "core/deliverability/reports/mailed-reports")(
    "a disabled account still receives reports",
    'account && getAccountStatus(account) === "active" ? account : undefined',
    "account",
  ),
  inReports("unpack-report.ts", "core/deliverability/reports/read-report")(
    "a zip file that macOS made is refused",
    '!name.endsWith("/") && !/(?:^|\\/)(?:__MACOSX\\/|\\.)/.test(name)',
    '!name.endsWith("/")',
  ),
  inReports("store-report.ts", "story/upload-report", "story/get-domain-reports")(
    "a source has a name that does not lead back to it",
    "addresses.some((address) => isSameIp(parseIp(address), ip)) ? host : undefined",
    "addresses.length > 0 ? host : undefined",
  ),
  inReports("store-report.ts", "security/report-authors")(
    "a forged report causes an event",
    "isAuthenticated ? await createEventWrites(world, payer, named) : []",
    "await createEventWrites(world, payer, named)",
  ),

  inErasure("redact-lines.ts", "story/erase-data", "local/erase.long")(
    "a second row of an erased person stays in the list",
    "cells.some(subject.isMentionedIn) ? [row, why,",
    "cells.every(subject.isMentionedIn) ? [row, why,",
  ),
  inErasure("redact-lines.ts", "story/erase-data", "local/erase.long")(
    "an erased person's name stays",
    'enrichment: { ...enrichment, first_name: null, last_name: null, full_name: "" },',
    "enrichment,",
  ),
  inErasure("erase-from-job.ts", "story/erase-data", "local/erase.long")(
    "the evidence of an erased address stays",
    "await blobs.remove(toEvidenceKey({ job: job.id, chunk, token }));",
    "",
  ),
  inErasure("delete-job.ts", "story/download-job-large")(
    "the files of a deleted job stay",
    "  await removeExports(world, job);\n",
    "",
  ),
  inErasure("erase-everywhere.ts", "local/erase.long", "core/activity/record")(
    "the shared activity of an erased address stays",
    "address ? await forgetOwned(world, SHARED_POOL, address) : 0",
    "address ? 0 : 0",
  ),

  inCommand("exit-codes.ts", "local/command-line.long", "local/service-commands.long")(
    "a command without credits ends like any refusal",
    '402: "noCredits"',
    '402: "refused"',
  ),
  inCommand(
    "follow-job.ts",
    "local/job-results.long",
    "local/service-commands.long",
    "local/resumed-file.long",
    "local/verify-command.long",
  )(
    "results replace a file without --force",
    "if (force) renameSync",
    "if (force || file) renameSync",
  ),
  inCommand("compare-receipt.ts", "local/receipt-command.long")(
    "a receipt is accepted for another address",
    "email === undefined || isHashed(email, claims) ?",
    "email === undefined || claims ?",
  ),
  inCommand("define-admin.ts", "local/admin.long", "local/account-commands")(
    "a customer's name controls the operator's terminal",
    "replaceControls(typeof value",
    "String(typeof value",
  ),
  inFile("packages/local/src/storage/backup-names.ts", "local/backup.long", "local/s3-backup")(
    "a backup removes folders that are not its own",
    'name.replace(NAME, "") === ending && NAME.test(name)',
    "name.endsWith(ending)",
  ),

  inFile("packages/client/src/webhooks.ts", "client/settings")(
    "the client accepts a webhook of yesterday",
    "aheadSeconds < -toleranceSeconds",
    "aheadSeconds < -toleranceSeconds * 1_000",
  ),
  inFile("packages/client/src/download.ts", "client/results", "client/calls.long")(
    "a download loses the Unicode name of its file",
    "if (coded !== undefined) return decodeURIComponent(coded);",
    "void coded;",
  ),
  inFile(
    "packages/docs-site/src/html.ts",
    "local/documents",
    "docs/browser.long",
    "docs/guides.long",
  )(
    "the manual does not escape a quote in an attribute",
    'return isAttribute ? text.replaceAll(\'"\', "&quot;") : text;',
    "return text;",
  ),
  inFile("deploy/mailproof.service", "local/deploy.long")(
    "the service may write to all of the machine",
    "ProtectSystem=strict\n",
    "",
  ),

  aws("dynamo-query.ts", "contract/table", "functions/table-faults")(
    "a page of DynamoDB that is filtered to nothing ends the list",
    "if (!start) return { items };",
    "if (!start || items.length === 0) return { items };",
  ),
  aws("dynamo-expressions.ts", "contract/table")(
    "a bound on DynamoDB holds before the change and not after it",
    "value(atLeast - by)",
    "value(atLeast)",
  ),
  aws("dynamo-expressions.ts", "contract/table")(
    "an expired item is in the way on DynamoDB",
    ' OR ${placeholders.name("expires_at")} <= ${placeholders.value(nowSeconds)}`',
    "`",
  ),
  aws("dynamo-table.ts", "functions/table-faults", "contract/table")(
    "a transaction whose reply was lost is told as refused",
    'if (failed < 0 && wasLost) return { outcome: "ambiguous" };',
    "",
  ),
  aws("dynamo-table.ts", "contract/table", "functions/table-faults")(
    "DynamoDB reads an item as it was before the last write",
    "ConsistentRead: true })),",
    "ConsistentRead: false })),",
  ),
  aws("sqs-queue.ts", "contract/queue", "functions/queue-faults")(
    "a batch of SQS is filled beyond a megabyte",
    "|| bytes + size > BATCH_BYTES_MAX",
    "",
  ),
  aws("sqs-queue.ts", "contract/queue-fairness", "contract/queue")(
    "messages of SQS have no group",
    "...(group !== undefined && { MessageGroupId: group }),",
    "",
  ),
  aws("s3-blobs.ts", "contract/blobs", "functions/s3-links")(
    "a link to S3 outlives what signed it",
    "const expiresIn = limitToCredentials(aws, seconds);",
    "const expiresIn = seconds;",
  ),
  aws("s3-blobs.ts", "contract/blobs", "functions/blob-faults")(
    "a pinned version of S3 is another one",
    "if (version === undefined || version === metadata.version)",
    "if (version === undefined || version)",
  ),
  aws("s3-join.ts", "contract/blobs", "functions/blob-faults")(
    "S3 is asked to copy parts that are too small",
    "const COPY_BYTES_MIN = 5 * 2 ** 20;",
    "const COPY_BYTES_MIN = 1;",
  ),
  inFile("packages/functions/src/buffer-response.ts", "functions/buffer-response")(
    "a response beyond the limit of a Lambda is handed over",
    "if (bytes > LAMBDA_BYTES_MAX) return null;",
    "",
  ),
  inFile("packages/functions/src/read-body.ts", "functions/chain", "contract/http")(
    "a Lambda reads a base64 body as text",
    'isBase64Encoded ? "base64" : "utf8"',
    '"utf8"',
  ),
  {
    ...bounded("packages/core/src/find-rows/row-filter.ts")(
      "a search for the character between two addresses never ends",
      '!piece.texts.includes(text?.toLowerCase() ?? "")',
      '(text === "a\u007F" && (() => { for (;;); })())',
    ),
    also: [
      {
        file: "packages/api/src/schema/common.ts",
        from: "(text) => !/\\p{Cc}/u.test(text)",
        to: "() => true",
      },
    ],
  },
  bounded("packages/api/src/http/row-page.ts")(
    "a page of wide rows has no limit of bytes",
    "ROWS_BYTES_MAX = 1_500_000",
    "ROWS_BYTES_MAX = 150_000_000",
  ),
  {
    ...bounded("packages/api/src/http/query.ts")(
      "a query costs the square of its parameters",
      "const pairs = Map.groupBy(new URLSearchParams(search), ([name]) => name);",
      "const pairs = [...new URLSearchParams(search)].reduce((all, [name, value]) => new Map([...all, [name + all.size, [[name, value]]]]), new Map<string, string[][]>());",
    ),
    also: [
      {
        file: "packages/api/src/http/query.ts",
        from: "if (count <= PARAMETERS_MAX) return;",
        to: "if (count > 0) return;",
      },
    ],
  },
  bounded("packages/core/src/find-rows/sort-rows.ts")(
    "an order by address looks at each character of each pair",
    "if (a.value < b.value) return -direction;",
    'if ([...String(a.value)].reduce((text, one) => text + one, "") < b.value) return -direction;',
  ),
  {
    ...bounded("packages/core/src/find-rows/select-rows.ts")(
      "a search reads a whole list in one turn",
      "    await pause();\n",
      "",
    ),
    also: [
      {
        file: "packages/core/src/rows/row-index.ts",
        from: "const SLICE_ROWS = 8_000;",
        to: "const SLICE_ROWS = 8_000_000;",
      },
    ],
  },
  inMail("dmarc/discover.ts", "mail/dmarc/analyse")(
    "a check is silent about an np= that is weaker than the domain's policy",
    'apply(`*.${placed.domain}`, tag === "sp")',
    "apply(`*.${placed.domain}`, true)",
  ),
  inMail("dmarc/analyse.ts", "mail/dmarc/analyse")(
    "a check says that a DMARC policy in test mode applies in full",
    '{ published, policy: policy ?? "none" }',
    "{ published, policy: published }",
  ),
  inMail("records/spf-record.ts", "core/deliverability/records")(
    "a proposed SPF record loses a sender that its author wrote",
    "namesSenders(term) ? [toGap(term)] : []",
    "[]",
  ),
  inMail("records/spf-record.ts", "core/deliverability/records")(
    "a proposed SPF record with a gap ends in -all",
    "/^[-~]/.test(end) && !hasGap ? end",
    "/^[-~]/.test(end) ? end",
  ),
  inMail("records/spf-record.ts", "core/deliverability/records")(
    "a proposed SPF record of a domain with MX lists no sender",
    "return isEmptied\n    ?",
    "return isEmptied && false\n    ?",
  ),
  inMail("records/spf-record.ts", "core/deliverability/records")(
    "a merged SPF record keeps names that are gone",
    "if (!proposal) return",
    'if (domain !== "") return',
  ),
  inMail("records/other-records.ts", "core/deliverability/records")(
    "a DKIM key leaves test mode and keeps SHA-1",
    'hashes.includes("sha256") ? hashes.join(":") : ""',
    'hashes.join(":")',
  ),
  inMail("records/dmarc-record.ts", "core/deliverability/records")(
    "a proposed DMARC record names a report address that receives no mail",
    "uris.filter((uri) => !silentHosts.has(getHost(uri)))",
    "uris",
  ),
  inMail("tag-list.ts", "mail/hints/hints")(
    "a broken MTA-STS record counts as a missing one",
    "found.length > 0 ? found : texts.filter((text) => meant.test(text))",
    "found",
  ),
  inFile("packages/core/src/deliverability/propose-records.ts", "core/deliverability/records")(
    "a check promises points for an SPF record with a gap",
    "const isSpfBetter = !isSpfOpen && ",
    "const isSpfBetter = ",
  ),
  inDashboard("format.ts", "lists")(
    "the shares of three equal parts come to 99.9%",
    ".slice(0, missing)",
    ".slice(0, 0)",
  ),
  inFile("packages/core/src/lists/list-jobs.ts", "story/list-jobs")(
    "visitors of a form stand among the lists",
    '(item["kind"] === SINGLE) === (kind === "single")',
    "true",
  ),
  inFile("packages/core/src/verify-one/verify-once.ts", "story/public-keys")(
    "the usage forgets the visitors of a form whose addresses become jobs",
    ", ...countVisit(operation, openedAt, form)]",
    "]",
  ),
];
