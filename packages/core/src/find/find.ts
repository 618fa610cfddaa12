import type { Address } from "../mail/address.ts";
import type { Engine } from "../verify/engine.ts";
import { type DomainSignal, type Judgement, judge } from "../verify/judge.ts";
import type { Answer } from "../verify/recipient-check.ts";
import type { Requester } from "../verify/requester.ts";
import { listedAs, refusesStrangers, signalsOf, undecidedBy } from "../verify/verify.ts";
import { type Candidate, candidatesFor, habitOf, isHabit } from "./candidates.ts";
import { confidenceIn } from "./confidence.ts";
import type { Naming } from "./items.ts";
import { formsOf, type Person } from "./names.ts";
import { carriedBy, type Pattern } from "./patterns.ts";

export const FIND_STATUSES = [
  "valid",
  "risky",
  "role",
  "unknown",
  "catch_all",
  "not_found",
  "invalid_name",
] as const;

export type FindStatus = (typeof FIND_STATUSES)[number];

export type Found = {
  readonly status: FindStatus;
  /** As verify has it, or why nobody was asked. */
  readonly reason: string;
  readonly email: string | null;
  readonly confidence: number;
  /** How the domain seems to name its mailboxes, as far as that is known. */
  readonly pattern: Pattern | null;
};

/** Which pattern a search has proved right, for whoever asks about this domain next. */
export type Taught = { readonly found: Found; readonly taught: Pattern | null };

/** `domain` in A-labels. */
export type Search = { readonly person: Person; readonly domain: string };

export const INVALID_NAME: Found = {
  status: "invalid_name",
  reason: "invalid_name",
  email: null,
  confidence: 0,
  pattern: null,
};

/**
 * One person's address at a domain: guesses, the likeliest first, asked about in one session until one is somebody's.
 * Never rejects for what the internet does.
 */
export const find = async (
  engine: Engine,
  { person, domain }: Search,
  naming: Naming,
  requester?: Requester,
): Promise<Taught> => {
  const nothing = { email: null, confidence: 0, pattern: habitOf(naming) };
  const looked = await engine.hostsOf(domain, requester?.account);
  if (looked.kind === "inconclusive")
    return untaught({ ...nothing, status: "unknown", reason: undecidedBy(looked.why) });
  if (looked.kind !== "hosts")
    return untaught({ ...nothing, status: "not_found", reason: looked.kind });

  const { hosts, implicit } = looked;
  const mailHost = hosts[0]?.host ?? null;
  const candidates = candidatesFor(person, domain, { naming, mailHost }).filter(
    ({ local }) => !engine.lists.trap(`${local}@${domain}`, domain),
  );
  const [likeliest, ...others] = candidates.map(({ local }) => `${local}@${domain}`);
  if (likeliest === undefined)
    return untaught({ ...nothing, status: "not_found", reason: "nobody_accepted" });
  const answer = await engine.probe({
    recipient: likeliest,
    otherwise: others,
    domain,
    hosts,
    decoy: !refusesStrangers(domain, mailHost),
    ...(requester && { requester }),
  });
  const candidate = candidates.find(({ local }) => `${local}@${domain}` === answer.recipient);
  if (!candidate) throw new Error("the answer is about nobody who was asked about");
  const at = implicit ? "implicit_mail_host" : "mail_host";
  const judged = judgedAs(engine, { candidate, domain, at, answer, mailHost });
  const isRole = judged.status === "role" || isRoleName(engine, person, domain);
  return concluded(candidate, answer, isRole ? { ...judged, status: "role" } : judged, naming);
};

const untaught = (found: Found): Taught => ({ found, taught: null });

/** Role words that people are called by. Dev Patel is a person, though dev@ is none. */
const ALSO_NAMES: ReadonlySet<string> = new Set("ask crew dev job server talent".split(" "));

/** Somebody looks for "Info", at a company: whoever reads info.desk@ is no person either. */
const isRoleName = ({ lists }: Engine, person: Person, domain: string): boolean =>
  formsOf(person, domain)?.first.some(
    ({ text }) => !ALSO_NAMES.has(text) && lists.role(text) !== null,
  ) ?? false;

type Asked = {
  readonly candidate: Candidate;
  readonly domain: string;
  readonly at: DomainSignal;
  readonly answer: Answer;
  readonly mailHost: string | null;
};

/** The verdict that verify would give: there is one table for both. */
const judgedAs = (
  engine: Engine,
  { candidate: { local }, domain, at, answer, mailHost }: Asked,
): Judgement => {
  const text = `${local}@${domain}`;
  const address: Address = {
    local,
    domain,
    literal: null,
    display: text,
    canonical: text,
    needsSmtpUtf8: false,
  };
  return judge(
    signalsOf(engine, {
      text,
      address,
      fault: null,
      listed: listedAs(engine.lists, address),
      domain: at,
      asked: [],
      mailHost: answer.host || mailHost,
      answer,
    }),
  );
};

const concluded = (
  candidate: Candidate,
  { recipient: email, finding }: Answer,
  { status, reason }: Judgement,
  naming: Naming,
): Taught => {
  const { pattern } = candidate;
  const habit = habitOf(naming);
  const nothing = { email: null, confidence: 0, pattern: habit };
  if (finding.verdict === "unknown")
    return untaught({ ...nothing, status: "unknown", reason: finding.reason });
  if (finding.verdict === "invalid")
    return untaught({ ...nothing, status: "not_found", reason: "nobody_accepted" });

  const told = (as: FindStatus, why: string, verdict: Parameters<typeof confidenceIn>[1]) => ({
    status: as,
    reason: why,
    email,
    confidence: confidenceIn(candidate, verdict),
  });
  if (status === "role") return untaught({ ...told("role", reason, "role"), pattern: habit });
  if (status === "catch_all")
    return untaught({ ...told("catch_all", reason, "catch_all"), pattern: habit });
  if (status !== "valid") {
    const isThere = finding.verdict === "risky";
    // A full mailbox teaches nothing: some servers say so to everybody, and no decoy is asked after it.
    return untaught({
      ...told("risky", reason, isThere ? "there" : "unproven"),
      pattern: isThere ? pattern : habit,
    });
  }
  // Whose thomas@ is, its name does not tell: another's first name may be this one's last.
  const isNamesakes = carriedBy(pattern) === "one" && !isHabit(naming, pattern);
  const found = isNamesakes ? told("risky", "one_name", "there") : told("valid", reason, "valid");
  return { found: { ...found, pattern }, taught: pattern };
};
