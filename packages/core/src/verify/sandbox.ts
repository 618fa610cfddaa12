import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import type { Lists } from "@mailproof/mail/lists/lists";
import type { Finding } from "@mailproof/mail/smtp/classify";
import type { KeyMode } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { CatchAll, ProbeRequest, ProbeResult } from "../smtp-pool/probe.ts";
import type { Engine, WithEngine } from "./engine.ts";
import { QUIET_ENGINE } from "./quiet-engine.ts";

/** The result of an address under a test key, by the first word of its local part. Any other word is accepted. */
export const SANDBOX_MAILBOXES: Readonly<Record<string, SandboxMailbox>> = {
  valid: { verdict: "valid", reason: "accepted" },
  invalid: { verdict: "invalid", reason: "mailbox_not_found" },
  disabled: { verdict: "invalid", reason: "mailbox_disabled" },
  full: { verdict: "risky", reason: "mailbox_full" },
  catch_all: { verdict: "valid", reason: "accepted", catchAll: "yes" },
  /** A word without the underscore, which a person's name cannot contain. */
  catchall: { verdict: "valid", reason: "accepted", catchAll: "yes" },
  risky: { verdict: "valid", reason: "accepted", catchAll: "undecided" },
  unknown: { verdict: "unknown", reason: "timeout", retry: "later" },
  /** The mailbox accepts the second attempt, as servers that greylist do. */
  greylisted: {
    verdict: "unknown",
    reason: "greylisted",
    retry: "later",
    onRetry: { verdict: "valid", reason: "accepted" },
  },
  /** The server throttles the first attempt and accepts the second. */
  throttled: {
    verdict: "unknown",
    reason: "rate_limited",
    retry: "later",
    aboutUs: true,
    onRetry: { verdict: "valid", reason: "accepted" },
  },
  blocked: { verdict: "unknown", reason: "ip_blocked", aboutUs: true },
  /** Replies after half a minute: the response is pending, and the job completes. */
  slow: { verdict: "valid", reason: "accepted", afterMs: 30_000 },
  /** The verification fails on our side with INTERNAL, like a real failure of ours. */
  error: "breaks",
};

export const SANDBOX_DOMAINS: Readonly<Record<string, SandboxDomain>> = {
  nxdomain: "domain_not_found",
  nullmx: "null_mx",
  dnsfail: "inconclusive",
};

type SandboxMailbox =
  | "breaks"
  | (Pick<Finding, "verdict" | "reason"> &
      Partial<Pick<Finding, "retry" | "aboutUs">> & {
        readonly catchAll?: CatchAll;
        readonly afterMs?: number;
        readonly onRetry?: Pick<Finding, "verdict" | "reason">;
      });

type SandboxDomain = "domain_not_found" | "null_mx" | "inconclusive";

const HOST: MailHost = { host: "mx.sandbox.test", priority: 10, ips: ["192.0.2.1"] };

/** The engine of test keys: no network, always the same results. Only the mail system is simulated. */
export const createSandboxEngine = ({ engine, now, sleep }: SandboxBase, attempts = 0): Engine => ({
  findMailHosts: async (domain) => {
    const kind = getOwn(SANDBOX_DOMAINS, domain.split(".")[0] ?? "");
    if (kind === "inconclusive") return { kind, why: "timeout", dnsQueries: [] };
    return kind
      ? { kind, dnsQueries: [] }
      : { kind: "hosts", hosts: [HOST], implicit: false, dnsQueries: [] };
  },
  probe: async ({ recipient }) => {
    const mailbox = getOwn(SANDBOX_MAILBOXES, getLeadingWord(recipient)) ?? {
      verdict: "valid",
      reason: "accepted",
    };
    if (mailbox === "breaks") throw new Error("a test key asked for an address that breaks");
    if (mailbox.afterMs !== undefined) await sleep(mailbox.afterMs);
    const { onRetry: secondTime } = mailbox;
    return toProbeResult(recipient, attempts > 0 && secondTime ? secondTime : mailbox);
  },
  lists: createSandboxLists(engine.lists.current()),
  now,
  ...QUIET_ENGINE,
});

const createSandboxLists = (others: Lists): Lists => {
  const lists: Lists = {
    ...others,
    disposable: (domain) => domain.startsWith("disposable.") || others.disposable(domain),
    trap: (address, domain) =>
      getLeadingWord(address) === "spam_trap" || others.trap(address, domain),
    current: () => lists,
  };
  return lists;
};

type SandboxBase = Pick<World, "now" | "sleep"> & { readonly engine: Pick<Engine, "lists"> };

/** Test keys never reach the network. `attempts`: the number of earlier attempts at the address. */
export const selectEngine = (
  world: Pick<World, "now" | "sleep"> & WithEngine,
  mode: KeyMode,
  attempts = 0,
): Engine =>
  mode === "live"
    ? world.engine
    : { ...createSandboxEngine(world, attempts), yieldToCallers: world.engine.yieldToCallers };

/** A local part may be "constructor", so only own fields count. */
const getOwn = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** Such as spam_trap for spam_trap+7@example.com. */
export const getLeadingWord = (address: ProbeRequest["recipient"]): string =>
  /^[a-z_]*/.exec(address.toLowerCase())?.[0] ?? "";

/** A request with several guesses at an address gets the result of the first guess for all. */
const toProbeResult = (
  recipient: string,
  mailbox: Exclude<SandboxMailbox, "breaks">,
): ProbeResult => ({
  recipient,
  unknownRecipients: [],
  finding: {
    verdict: mailbox.verdict,
    reason: mailbox.reason,
    rule: "sandbox",
    confidence: 1,
    retry: mailbox.retry ?? null,
    aboutUs: mailbox.aboutUs ?? false,
  },
  reply: null,
  host: HOST.host,
  ip: HOST.ips[0] ?? "",
  encrypted: true,
  catchAll: mailbox.catchAll ?? (mailbox.verdict === "unknown" ? "not_tested" : "no"),
  transcript: [],
  randomRecipient: null,
});
