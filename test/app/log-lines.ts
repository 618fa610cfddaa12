import { redact } from "@mailproof/core/lib/redact";

// What the whole test run writes to a log is looked at, line by line: by app/given.ts, where stories log, and by
// servers/running.ts, where real processes do. log-lines.setup.ts fails the test in which something was found. The
// patterns are not those of redact.ts: who looks is not who cleans.

const SECRETS: Readonly<Record<string, RegExp>> = {
  "an API key": /mp_(?:live|test)_[0-9A-Za-z]{6,}/,
  "an address": /[^\s"'/@<>(]@[\p{L}\p{N}-]+\.[\p{L}\p{N}.-]+/u,
  "an address in a link": /[^\s"'/]%(?:25)*40[\w-]+\.\w+/,
  "a signing secret": /whsec_[A-Za-z0-9+/]{6,}/,
  "a token": /eyJ[\w-]{4,}\.eyJ[\w-]{4,}/,
  "a link that opens": /(?:signature|X-Amz-(?:Signature|Credential|Security-Token))=(?!redacted)./i,
  "a session": /__Host-mailproof=[\w-]{20,}/,
  "an invitation": /\blink#[\w-]{20,}/,
  "a way to no mail": /\btoken=(?!redacted)[\w.-]{20,}/,
  "a secret of the operator's": /a (?:pepper|cursor secret|activity key|sealing key) for tests/,
};

/** What a line tells that no line may tell. */
export const findSecrets = (line: string): string[] =>
  Object.keys(SECRETS).filter((name) => SECRETS[name]?.test(line));

/** A line as both runtimes write it. */
export const formatLine = (event: string, fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ event, ...(redact(fields) as object) });

const found: string[] = [];

/** Looks at what was written. */
export const watchLine = (line: string): void => {
  for (const secret of findSecrets(line)) found.push(`${secret} in a log line: ${line}`);
};

/** What has been found since this was last asked. */
export const takeFindings = (): string[] => found.splice(0);
