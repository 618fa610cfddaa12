import type { Dns } from "../dns/dns.ts";
import { parseIp, toReverseName } from "../ip.ts";
import type { Issue } from "../issue.ts";
import type { MxAnalysis } from "../mx/analyse.ts";
import { parseTagList } from "../tag-list.ts";
import { type DnsRecord, type ProposedRecord, propose, readTexts } from "./dns-record.ts";

export type OtherProposalInput = {
  readonly domain: string;
  readonly mx: MxAnalysis;
  readonly selectors: readonly string[];
  readonly now: Date;
};

type Propose = (
  dns: Dns,
  input: OtherProposalInput,
  issue: Issue,
) => Promise<ProposedRecord | undefined>;

const detailOf = ({ detail }: Issue, name: string): string => String(detail[name] ?? "");

const toTexts = (name: string, texts: readonly string[]): readonly DnsRecord[] =>
  texts.map((value) => ({ name, type: "TXT", value }));

const HOST = "<host name of your mail server>";
const SELECTOR = "<selector>";
const PUBLIC_KEY = "<public key>";

const newKey: Propose = async (_, { domain }) =>
  propose(
    {
      name: `${SELECTOR}._domainkey.${domain}`,
      type: "TXT",
      value: `v=DKIM1; k=rsa; p=${PUBLIC_KEY}`,
    },
    {
      note: "Your mail server or mail service makes the key and names the selector. Some services ask for a CNAME record instead: publish what they show.",
    },
  );

/** Proposes the published key without test mode and with SHA-256, when the domain has only one such key. */
const repairKey: Propose = async (dns, { domain, selectors }, issue) => {
  const selector = detailOf(issue, "selector");
  if (!selectors.includes(selector)) return undefined;
  const name = `${selector}._domainkey.${domain}`;
  const [value, ...others] = await readTexts(dns, name);
  if (value === undefined || others.length > 0) return undefined;
  const tags = parseTagList(value).tags.flatMap((tag) => {
    const repaired = REPAIRS[tag.name]?.(splitList(tag.value)) ?? tag.value;
    return repaired === "" ? [] : [`${tag.name}=${repaired}`];
  });
  return propose(
    { name, type: "TXT", value: tags.join("; ") },
    { replaces: toTexts(name, [value]) },
  );
};

const splitList = (value: string): readonly string[] => value.split(":").map((one) => one.trim());

/** RFC 6376 §3.6.1: only the flag y means a test, and a key without h= accepts every hash. */
const REPAIRS: Readonly<Record<string, (values: readonly string[]) => string>> = {
  t: (flags) => flags.filter((flag) => flag.toLowerCase() !== "y").join(":"),
  h: (hashes) => (hashes.includes("sha256") ? hashes.join(":") : ""),
};

/** RFC 9990: the receiver of the reports publishes its consent. */
const consent: Propose = async (_, __, issue) =>
  propose(
    { name: detailOf(issue, "name"), type: "TXT", value: "v=DMARC1" },
    { note: `${detailOf(issue, "host")} publishes this record, and not you.` },
  );

const reverseName: Propose = async (_, __, issue) => {
  const ip = parseIp(detailOf(issue, "ip"));
  return (
    ip &&
    propose(
      { name: toReverseName(ip), type: "PTR", value: HOST },
      { note: "The provider of the IP address sets this record, mostly in its control panel." },
    )
  );
};

const forwardName: Propose = async (dns, input, issue) => {
  const [name, ip] = [detailOf(issue, "name"), detailOf(issue, "ip")];
  const isOwn = name === input.domain || name.endsWith(`.${input.domain}`);
  return isOwn ? propose({ name, type: "A", value: ip }) : reverseName(dns, input, issue);
};

const mailHost: Propose = async (_, { domain }) =>
  propose({ name: domain, type: "MX", value: `10 ${HOST}` });

const hostAddress: Propose = async (_, __, issue) =>
  propose({ name: detailOf(issue, "host"), type: "A", value: "<public IPv4 address>" });

const hostInsteadOfIp: Propose = async (_, { domain, mx }, issue) => {
  const host = detailOf(issue, "host");
  const found = mx.records.find((one) => one.host === host);
  if (!found) return undefined;
  const replaces = [{ name: domain, type: "MX", value: `${found.priority} ${host}` } as const];
  return propose({ name: domain, type: "MX", value: `${found.priority} ${HOST}` }, { replaces });
};

const TESTING_SECONDS = 86_400;
const ENFORCE_SECONDS = 604_800;

/** RFC 8461: the record, and the policy on its own host. The policy starts in testing mode, before enforcement. */
const mtaSts: Propose = async (dns, { domain, mx, now }, issue) => {
  const hosts = [...new Set(mx.records.map(({ host }) => host).filter((host) => host !== "."))];
  if (issue.id === "MTA_STS_UNCHECKED" || hosts.length === 0 || mx.hasValidMx !== true)
    return undefined;
  const isTested = detailOf(issue, "mode") === "testing";
  const name = `_mta-sts.${domain}`;
  // Senders read the policy again when the id changes.
  const id = now.toISOString().slice(0, 19).replaceAll(/\D/g, "");
  return propose(
    { name, type: "TXT", value: `v=STSv1; id=${id}` },
    {
      replaces: toTexts(name, await readTexts(dns, name)),
      note: `Publish the policy first, as text/plain, with a valid certificate for mta-sts.${domain}.`,
      file: {
        url: `https://mta-sts.${domain}/.well-known/mta-sts.txt`,
        content: [
          "version: STSv1",
          `mode: ${isTested ? "enforce" : "testing"}`,
          ...hosts.map((host) => `mx: ${host}`),
          `max_age: ${isTested ? ENFORCE_SECONDS : TESTING_SECONDS}`,
          "",
        ].join("\r\n"),
      },
    },
  );
};

const REPORTS_TO = /^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/i;

const tlsReports: Propose = async (dns, { domain, mx }) => {
  if (mx.hasValidMx !== true) return undefined;
  const name = `_smtp._tls.${domain}`;
  const texts = await readTexts(dns, name);
  const asked = texts.flatMap((text) =>
    parseTagList(text)
      .tags.filter((tag) => tag.name === "rua")
      .flatMap(({ value }) => value.split(",")),
  );
  const uris = asked.map((uri) => uri.trim()).filter((uri) => REPORTS_TO.test(uri));
  const mailbox = `tls-reports@${domain}`;
  const rua = uris.length > 0 ? [...new Set(uris)].join(",") : `mailto:${mailbox}`;
  return propose(
    { name, type: "TXT", value: `v=TLSRPTv1; rua=${rua}` },
    {
      replaces: toTexts(name, texts),
      note:
        uris.length > 0
          ? null
          : `Create the mailbox ${mailbox} for the reports first, or name another one.`,
    },
  );
};

const logo: Propose = async (_, { domain }, issue) =>
  issue.id === "BIMI_MISSING"
    ? propose(
        {
          name: `default._bimi.${domain}`,
          type: "TXT",
          value: "v=BIMI1; l=<https URL of your logo>; a=<https URL of its mark certificate>",
        },
        { note: "Mailboxes show the logo only under DMARC quarantine or reject." },
      )
    : undefined;

const PROPOSALS: Readonly<Record<string, Propose>> = {
  add_mx: mailHost,
  fix_mx_target: hostAddress,
  mx_ip: hostInsteadOfIp,
  add_dkim: newKey,
  dkim_short: newKey,
  dkim_rotate_2048: newKey,
  dkim_revoked: newKey,
  dkim_add_rsa: newKey,
  dkim_testing: repairKey,
  dkim_hash: repairKey,
  dmarc_rua_authorize: consent,
  dmarc_ruf_authorize: consent,
  ptr_missing: reverseName,
  ptr_generic: reverseName,
  ptr_mismatch: forwardName,
  mta_sts: mtaSts,
  tls_rpt: tlsReports,
  bimi: logo,
};

export const proposeOther = (
  dns: Dns,
  input: OtherProposalInput,
  { advice, issue }: { readonly advice: string; readonly issue: Issue },
): Promise<ProposedRecord | undefined> =>
  PROPOSALS[advice]?.(dns, input, issue) ?? Promise.resolve(undefined);
