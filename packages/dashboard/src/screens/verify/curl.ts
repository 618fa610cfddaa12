import { API_URL } from "../../base.ts";

export const OPTIONS = { include_evidence: true, timeout_ms: 10_000 } as const;

/** In a POSIX shell, a quote ends the string, so the function escapes it and reopens the string. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Writes the same request for a shell, with the variable of the key, not the key itself. */
export const toCurl = (email: string): string =>
  [
    `curl -s ${quote(`${API_URL}/v1/verify`)}`,
    `-H "X-Api-Key: $MAILPROOF_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify({ email, options: OPTIONS }))}`,
  ].join(" \\\n  ");
