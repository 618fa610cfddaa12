import type { LabDomain, LabDomains, LabExample } from "./domain.ts";
import { dnsDomains } from "./domains-dns.ts";
import { hostileDomains } from "./domains-hostile.ts";
import { mailboxDomains } from "./domains-mailbox.ts";
import { refusingDomains } from "./domains-refusing.ts";

const USUAL_EXAMPLES: readonly LabExample[] = [
  ["ada.lovelace", "valid", "accepted"],
  ["nobody", "invalid", "mailbox_not_found"],
];

const listDomains = (domains: LabDomains): readonly LabDomain[] =>
  Object.entries(domains).map(([name, row]) => ({ name, examples: USUAL_EXAMPLES, ...row }));

/** The whole network except the companies and the senders, in the order of docs/lab.md. */
export const DOMAINS: Readonly<Record<string, readonly LabDomain[]>> = {
  "Replies about a mailbox": listDomains(mailboxDomains),
  "Replies about the client": listDomains(refusingDomains),
  "DNS responses": listDomains(dnsDomains),
  "Hosts that misbehave": listDomains(hostileDomains),
};

export const allDomains: readonly LabDomain[] = Object.values(DOMAINS).flat();
