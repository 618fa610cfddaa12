import type { LabDomain } from "./domain.ts";
import { dnsDomains } from "./domains-dns.ts";
import { hostileDomains } from "./domains-hostile.ts";
import { mailboxDomains } from "./domains-mailbox.ts";
import { refusingDomains } from "./domains-refusing.ts";

/** The whole network except the companies and the senders, in the order of docs/lab.md. */
export const DOMAINS: Readonly<Record<string, readonly LabDomain[]>> = {
  "Replies about a mailbox": mailboxDomains,
  "Replies about the client": refusingDomains,
  "DNS responses": dnsDomains,
  "Hosts that misbehave": hostileDomains,
};

export const allDomains: readonly LabDomain[] = Object.values(DOMAINS).flat();
