import type * as v from "valibot";
import type { Job } from "../rows/items.ts";
import type { Letter } from "../webhooks/mail-items.ts";
import type { EVENT_DATA } from "../webhooks/payloads.ts";

// What the mails say. No address of a customer's list may appear in one: a name or a sentence that contains an @ in any form is
// replaced, so that no address can, whatever a list, a file or a record is called.

// "=?" begins an encoded word (RFC 2047), which mail programs decode in a subject.
const AT_SIGN = /[@\uFE6B\uFF20]|%(?:25)*40|=\?/;
/** They could end a header field, or turn the direction of the text after them. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;
const LENGTH_MAX = 300;

/** Returns foreign text without line breaks, or the fallback if it may contain an address. */
const clean = (text: string, fallback: string): string => {
  const line = text.replaceAll(CONTROLS, " ").trim().slice(0, LENGTH_MAX).toWellFormed();
  return line === "" || AT_SIGN.test(line.normalize("NFKC")) ? fallback : line;
};

const formatCount = (count: number): string => count.toLocaleString("en");
const formatCredits = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? "credit" : "credits"}`;

type EventData = { readonly [T in keyof typeof EVENT_DATA]: v.InferOutput<(typeof EVENT_DATA)[T]> };

export const writeListLetter = (
  job: Pick<Job, "id" | "name" | "total" | "valid" | "invalid" | "risky" | "unknown">,
  hasFailed: boolean,
): Letter => {
  const isOne = job.total === 1;
  const addresses = `${formatCount(job.total)} ${isOne ? "address" : "addresses"}`;
  const name = clean(job.name ?? "", `your list of ${addresses}`);
  const screen = `lists/${job.id}`;
  if (hasFailed)
    return {
      subject: `List failed: ${name}`,
      blocks: [
        `The list ${name} ended without results. Its page says why, and what happened to its credits.`,
      ],
      screen,
    };
  return {
    subject: `List done: ${name}`,
    blocks: [
      `${isOne ? addresses : `All ${addresses}`} of the list ${name} ${isOne ? "has" : "have"} a result:`,
      (["valid", "invalid", "risky", "unknown"] as const).map(
        (status) => `${formatCount(job[status])} ${status}`,
      ),
    ],
    screen,
  };
};

type Left = Pick<EventData["credits.low"], "available">;

export const writeBalanceLetter = (left: Left, accountName: string): Letter => {
  const name = clean(accountName, "your account");
  return {
    subject: `Few credits left: ${name}`,
    blocks: [`${formatLeft(left)} in ${name}, less than a tenth of the last grant.`],
    screen: "usage",
  };
};

export const writeDepletedLetter = (left: Left, accountName: string): Letter => {
  const name = clean(accountName, "your account");
  return {
    subject: `No credits left: ${name}`,
    blocks: [
      `${formatLeft(left)} in ${name}. Requests with a price are refused until credits are added.`,
    ],
    screen: "usage",
  };
};

const formatLeft = ({ available }: Left): string =>
  `${formatCredits(available)} ${available === 1 ? "is" : "are"} left`;

export const writeListedLetter = ({
  domain,
  sending_ip: ip,
  listed_on: lists,
}: EventData["blacklist.detected"]): Letter => {
  const name = clean(domain, "A domain");
  return {
    subject: `On a blocklist: ${name}`,
    blocks: [
      ip === null
        ? `${name} is on a blocklist:`
        : `${name} or its address ${ip} is on a blocklist:`,
      lists.map((list) => clean(list, "a list")),
      "Receivers that use the list refuse your mail, or put it into the spam folder.",
    ],
    screen: `domains/${encodeURIComponent(name)}`,
  };
};

export const writeDmarcLetter = ({ domain, status, report }: EventData["dmarc.failed"]): Letter => {
  const name = clean(domain, "A domain");
  if (report)
    return {
      subject: `Unaligned mail: ${name}`,
      blocks: [
        `${clean(report.reporter, "A receiver")} reports that ${formatCount(report.unaligned)} of ${formatCount(report.messages)} messages from ${name} on ${report.day} are not aligned. A strict policy would stop them.`,
        "They come from a sender that is not set up, or from somebody who uses your name.",
      ],
      screen: `domains/${encodeURIComponent(name)}/reports`,
    };
  return {
    subject: `DMARC record at fault: ${name}`,
    blocks: [
      `The last check of ${name} found a fault in its DMARC record (${clean(status, "fault")}), so anybody may send mail in its name.`,
    ],
    screen: `domains/${encodeURIComponent(name)}/progress`,
  };
};

export type WeekFacts = {
  readonly account: string;
  readonly from: string;
  readonly to: string;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly cost: number;
  readonly available: number;
  readonly domains: readonly WeekDomain[];
  /** The number of domains beyond those that the letter lists. */
  readonly moreDomains: number;
};

export type WeekDomain = {
  readonly domain: string;
  readonly policy: string | null;
  readonly obstacles: readonly string[];
  readonly next: string;
  readonly sources: readonly NewSource[];
};

export type NewSource = {
  readonly name: string;
  readonly messages: number;
  readonly aligned: number;
};

/** Written also in a week without events: a reader who misses the letter knows that something is wrong. */
export const writeWeekLetter = (facts: WeekFacts): Letter => {
  const name = clean(facts.account, "your account");
  const verified = Object.values(facts.verdicts).reduce((sum, count) => sum + count, 0);
  const count = `${formatCount(verified)} ${verified === 1 ? "verification" : "verifications"}`;
  return {
    subject: `${name}, the week to ${facts.to}: ${count}`,
    blocks: [
      `This was the week from ${facts.from} to ${facts.to} (UTC) in ${name}.`,
      ...writeUse(facts, count),
      `Balance: ${formatCredits(facts.available)}.`,
      ...writeSources(facts.domains),
      ...writeObstacles(facts),
      "This letter comes every Monday, also after a week without events. If it is missing, look whether your service runs.",
    ],
    screen: "",
  };
};

const writeUse = ({ verdicts, cost }: WeekFacts, count: string): Letter["blocks"] => {
  const statuses = Object.entries(verdicts).filter(([, of]) => of > 0);
  if (statuses.length === 0) return [`There was no verification. Cost: ${formatCredits(cost)}.`];
  return [
    `${count}, at a cost of ${formatCredits(cost)}:`,
    statuses.map(([status, of]) => `${formatCount(of)} ${status.replaceAll("_", " ")}`),
  ];
};

const SOURCES_MAX = 5;

const writeSources = (domains: readonly WeekDomain[]): Letter["blocks"] => {
  if (domains.length === 0) return [];
  const lines = domains.flatMap(({ domain, sources }) => {
    const shown = sources.slice(0, SOURCES_MAX);
    const more = sources.length - shown.length;
    return [
      ...shown.map(
        ({ name, messages, aligned }) =>
          `${clean(domain, "a domain")}: ${clean(name, "an address")}, ${formatCount(messages)} ${messages === 1 ? "message" : "messages"}, ${aligned === messages ? "all" : formatCount(aligned)} aligned`,
      ),
      ...(more > 0 ? [`${clean(domain, "a domain")}: ${formatCount(more)} more`] : []),
    ];
  });
  if (lines.length === 0) return ["No new source sends mail as one of your domains."];
  return ["New sources that send mail as your domains:", lines];
};

const OBSTACLES_MAX = 3;

const writeObstacles = ({ domains, moreDomains }: WeekFacts): Letter["blocks"] => {
  if (domains.length === 0) return ["No domain is monitored, and no report arrived."];
  const lines = domains.map(({ domain, policy, obstacles, next }) => {
    const name = clean(domain, "a domain");
    if (obstacles.length === 0) return `${name}: the policy is reject, and nothing is in the way`;
    const why = obstacles
      .slice(0, OBSTACLES_MAX)
      .map((one) => clean(one, "Its page shows a fault."))
      .join(" ");
    return `${name} (policy: ${policy ?? "unknown"}): ${why} Next: ${clean(next, "Open its page.")}`;
  });
  return [
    "Between your domains and the policy reject:",
    [...lines, ...(moreDomains > 0 ? [`${formatCount(moreDomains)} more domains`] : [])],
  ];
};

export const writeInvitation = (accountName: string, role: string): Letter => {
  const name = clean(accountName, "an account");
  return {
    subject: `Invitation to ${name}`,
    blocks: [
      `You are invited to ${name} as ${role}.`,
      "The link works once, within 48 hours. If you do not know who invites you, ignore this mail.",
    ],
    screen: "",
  };
};
