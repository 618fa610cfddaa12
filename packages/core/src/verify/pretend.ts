import type { KeyMode } from "../access/key-form.ts";
import type { MailHost } from "../mail/mail-hosts.ts";
import type { Finding } from "../mail/smtp/classify.ts";
import type { World } from "../world.ts";
import type { Engine, WithEngine } from "./engine.ts";
import type { Answer, Question } from "./recipient-check.ts";
import type { CatchAll } from "./result.ts";

/** What an address comes to under a test key, by the word its local part begins with. Other words are accepted. */
export const PRETEND_MAILBOXES: Readonly<Record<string, Pretended>> = {
  valid: { verdict: "valid", reason: "accepted" },
  invalid: { verdict: "invalid", reason: "mailbox_not_found" },
  disabled: { verdict: "invalid", reason: "mailbox_disabled" },
  full: { verdict: "risky", reason: "mailbox_full" },
  catch_all: { verdict: "valid", reason: "accepted", catchAll: "yes" },
  /** The same for whoever cannot write the other: a name has no underscore. */
  catchall: { verdict: "valid", reason: "accepted", catchAll: "yes" },
  risky: { verdict: "valid", reason: "accepted", catchAll: "undecided" },
  unknown: { verdict: "unknown", reason: "timeout", retry: "later" },
  /** Lets a sender in who comes a second time, as servers that greylist do. */
  greylisted: {
    verdict: "unknown",
    reason: "greylisted",
    retry: "later",
    secondTime: { verdict: "valid", reason: "accepted" },
  },
  blocked: { verdict: "unknown", reason: "ip_blocked", aboutUs: true },
  /** Answers after half a minute: so the call is told pending, and the job completes. */
  slow: { verdict: "valid", reason: "accepted", afterMs: 30_000 },
  /** Breaks on our side: a 500, as it would look for real. */
  error: "breaks",
};

/** The same for domains, by their first label. */
export const PRETEND_DOMAINS: Readonly<Record<string, PretendedDomain>> = {
  nxdomain: "domain_not_found",
  nullmx: "null_mx",
  dnsfail: "inconclusive",
};

type Pretended =
  | "breaks"
  | (Pick<Finding, "verdict" | "reason"> &
      Partial<Pick<Finding, "retry" | "aboutUs">> & {
        readonly catchAll?: CatchAll;
        readonly afterMs?: number;
        /** What a second attempt comes to, where that differs. */
        readonly secondTime?: Pick<Finding, "verdict" | "reason">;
      });

type PretendedDomain = "domain_not_found" | "null_mx" | "inconclusive";

const HOST: MailHost = { host: "mx.pretend.test", priority: 10, ips: ["192.0.2.1"] };

/** The engine of test keys: no network, the same answers always. All but the mail system itself is the real one. */
export const pretendEngine = ({ engine, now, sleep }: Pretending, attempts = 0): Engine => ({
  hostsOf: async (domain) => {
    const kind = ownOf(PRETEND_DOMAINS, domain.split(".")[0] ?? "");
    if (kind === "inconclusive") return { kind, why: "timeout", asked: [] };
    return kind
      ? { kind, asked: [] }
      : { kind: "hosts", hosts: [HOST], implicit: false, asked: [] };
  },
  probe: async ({ recipient }) => {
    const pretended = ownOf(PRETEND_MAILBOXES, wordOf(recipient)) ?? {
      verdict: "valid",
      reason: "accepted",
    };
    if (pretended === "breaks") throw new Error("a test key asked for an address that breaks");
    if (pretended.afterMs !== undefined) await sleep(pretended.afterMs);
    const { secondTime } = pretended;
    return answerOf(recipient, attempts > 0 && secondTime ? secondTime : pretended);
  },
  lists: {
    ...engine.lists,
    disposable: (domain) => domain.startsWith("disposable.") || engine.lists.disposable(domain),
    trap: (address, domain) =>
      wordOf(address) === "spam_trap" || engine.lists.trap(address, domain),
  },
  now,
});

type Pretending = Pick<World, "now" | "sleep"> & { readonly engine: Pick<Engine, "lists"> };

/** Test keys never reach the network. `attempts`: how often the address was tried before. */
export const engineFor = (
  world: Pick<World, "now" | "sleep"> & WithEngine,
  mode: KeyMode,
  attempts = 0,
): Engine => (mode === "live" ? world.engine : pretendEngine(world, attempts));

/** A mailbox may be called constructor. */
const ownOf = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** spam_trap of spam_trap+7@example.com */
export const wordOf = (address: Question["recipient"]): string =>
  /^[a-z_]*/.exec(address.toLowerCase())?.[0] ?? "";

/** Where there are guesses at an address, the first one decides for all. */
const answerOf = (recipient: string, pretended: Exclude<Pretended, "breaks">): Answer => ({
  recipient,
  nobody: [],
  finding: {
    verdict: pretended.verdict,
    reason: pretended.reason,
    rule: "pretended",
    confidence: 1,
    retry: pretended.retry ?? null,
    aboutUs: pretended.aboutUs ?? false,
  },
  reply: null,
  host: HOST.host,
  ip: HOST.ips[0] ?? "",
  encrypted: true,
  catchAll: pretended.catchAll ?? (pretended.verdict === "unknown" ? "not_tested" : "no"),
  transcript: [],
  decoy: null,
});
