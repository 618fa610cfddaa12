import { API_URL } from "../../base.ts";

export const OPTIONS = { include_evidence: true, timeout_ms: 10_000 } as const;

/** For a POSIX shell: a quote ends the text, stands for itself, and begins it again. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The same request from a shell. It names the variable of the key, and not the key. */
export const toCurl = (email: string): string =>
  [
    `curl -s ${quote(`${API_URL}/v1/verify`)}`,
    `-H "X-Api-Key: $MAILPROOF_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify({ email, options: OPTIONS }))}`,
  ].join(" \\\n  ");
