import { isSpf } from "./parse.ts";

/** Lists the domains that a domain's SPF includes, read from its TXT records, without names that have a macro. */
export const listIncludes = (texts: readonly string[]): readonly string[] =>
  texts
    .filter(isSpf)
    .flatMap((text) => text.split(/\s+/))
    .flatMap((term) => /^[+?~-]?(?:include:|redirect=)([^%\s]+)$/i.exec(term)?.[1] ?? []);

/** Tells whether a record allows no host to send: "v=spf1 -all" and nothing else. */
export const sendsNothing = (record: string | null): boolean =>
  /^v=spf1\s+-all\s*$/i.test(record ?? "");
