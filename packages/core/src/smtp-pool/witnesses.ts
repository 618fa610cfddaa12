import { getDomain } from "@mailproof/mail/address";
import type { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { classify } from "@mailproof/mail/smtp/classify";
import type { Reply } from "@mailproof/mail/smtp/reply";
import { REFUSED_WITNESS } from "@mailproof/mail/smtp/reply-rules/witness";
import type { RecipientResult } from "@mailproof/mail/smtp/session";
import * as v from "valibot";
import { type ItemStore, limitTime } from "../lib/limit-time.ts";
import { HOUR_MS, isUnexpired, toEpochSeconds } from "../lib/time.ts";
import { estimateShare } from "../lib/wilson.ts";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { AnsweredProbe, SessionSummary } from "./probe.ts";
import { findProviderKey, type SlotKey } from "./slots/slots.ts";

// A witness is a mailbox of the operator's, which surely exists. A mail provider that blocks us, or whose directory is
// stale, may refuse every recipient as unknown. When its refusals rise beyond their history, the session asks about a
// witness after its own recipients. A refused witness shows that the refusals are about us: those of the session become
// `unknown`, and the circuit of the provider and the exit opens. Refusals that earlier sessions returned since the last
// proof are unproven: a pass takes back those that it has not stored (`isTakenBack`).
//
// Layout. The times of the last proofs for a provider and an exit, written with each reply about a witness.
//
//   pk               sk              what
//   PROVIDER#<name>  WITNESS#<exit>  provedAt (ms): a recipient was accepted, or a witness; refusedAt (ms): a witness
//                                    was refused since then

/** A session asks about a witness once in this many recipients; after a refused witness, every session asks. */
const ROWS_PER_WITNESS = 200;
/** The smallest history that counts. Without a history, the session doubts the first refusal of a provider that has accepted nobody. */
const HISTORY_MIN = 20;
/** Recipients that count as recent. Once an acceptance proves them they are history, of which the last thousands count. */
const RECENT_MAX = 50;
const HISTORY_MAX = 5_000;
const REMEMBERED_MAX = 50_000;
const RETENTION_MS = 24 * HOUR_MS;

const Proofs = v.object({
  provedAt: v.optional(v.number(), 0),
  refusedAt: v.optional(v.number(), 0),
});
type Proofs = v.InferOutput<typeof Proofs>;
const NO_PROOFS: Proofs = { provedAt: 0, refusedAt: 0 };

/** `of`: recipients that were accepted or refused as unknown. `refused`: those that were refused. */
type Count = { readonly of: number; readonly refused: number };
const NONE: Count = { of: 0, refused: 0 };

type Watched = {
  proofs: Proofs;
  history: Count;
  recent: Count;
  /** Recipients since the last witness. */
  recipients: number;
  /** A session is asking about a witness; other sessions wait for the reply, which also judges their recipients. */
  asking: PromiseWithResolvers<void> | null;
};

type WitnessPorts = {
  readonly witnesses: readonly string[];
  readonly findMailHosts: (domain: string) => ReturnType<typeof findMailHosts>;
  readonly table: ItemStore;
  readonly now: () => Date;
  readonly sleep: World["sleep"];
};

export type Witnesses = ReturnType<typeof createWitnesses>;

export const createWitnesses = (ports: WitnessPorts) => {
  const findHere = createLocator(ports);
  const records = createRecords(ports);
  return {
    /** Null when the operator named no witness at this provider. */
    watch: async ({ providerKey, exit }: Pick<SlotKey, "providerKey" | "exit">) => {
      const here = await findHere(providerKey);
      return here.length > 0 ? watchSession(records, here, toWitnessKey(providerKey, exit)) : null;
    },
  };
};

/** Finds the witnesses at a provider. */
const createLocator = ({ witnesses, findMailHosts, now }: WitnessPorts) => {
  const findKeys = async (witness: string): Promise<string[]> => {
    const found = await findMailHosts(getDomain(witness)).catch(() => null);
    return found?.kind === "hosts"
      ? found.hosts.map(({ host }) => findProviderKey(found.hosts, host))
      : [];
  };
  let keys: Promise<readonly string[][]> = Promise.resolve([]);
  let untilMs = 0;
  return async (providerKey: string): Promise<readonly string[]> => {
    if (witnesses.length === 0) return [];
    const atMs = now().getTime();
    if (!isUnexpired(untilMs, atMs, HOUR_MS)) {
      untilMs = atMs + HOUR_MS;
      keys = Promise.all(witnesses.map(findKeys));
    }
    const located = await keys;
    return witnesses.filter((_, at) => located[at]?.includes(providerKey));
  };
};

type Records = ReturnType<typeof createRecords>;

/** Remembers each provider and exit, and reads and writes its item. */
const createRecords = ({ table: untimed, now, sleep }: WitnessPorts) => {
  const table = limitTime(untimed, { sleep });
  const watchedByKey = createBoundedMap<Watched>({ weightMax: REMEMBERED_MAX });
  const getMs = () => now().getTime();
  return {
    open: async (key: Key): Promise<Watched> => {
      const name = `${key.pk} ${key.sk}`;
      const known = watchedByKey.get(name);
      if (known) return known;
      const proofs = await readProofs(table, key).catch(() => NO_PROOFS);
      const isRecent = isUnexpired(proofs.provedAt + HOUR_MS, getMs(), HOUR_MS);
      const recipients = isRecent ? 0 : ROWS_PER_WITNESS;
      const fresh = { proofs, history: NONE, recent: NONE, recipients, asking: null };
      // A concurrent session may have stored the record first.
      const watched = watchedByKey.get(name) ?? fresh;
      watchedByKey.set(name, watched);
      return watched;
    },

    learn: async (key: Key, watched: Watched, seen: Seen): Promise<void> => {
      const { proofs } = watched;
      watched.recipients = seen.witness ? 0 : watched.recipients + seen.of;
      watched.recent = seen.witness === "refused" ? NONE : add(watched.recent, seen);
      if (seen.isProven && (watched.recent.of >= RECENT_MAX || seen.witness)) forget(watched);
      if (seen.isProven) watched.proofs = { provedAt: getMs(), refusedAt: 0 };
      else if (seen.witness) watched.proofs = { ...proofs, refusedAt: getMs() };
      if (!seen.witness && proofs.refusedAt === watched.proofs.refusedAt) return;
      const expires_at = toEpochSeconds(now()) + RETENTION_MS / 1_000;
      await table.write({ put: { ...key, ...watched.proofs, expires_at } }).catch(() => undefined);
    },
  };
};

const watchSession = async (records: Records, here: readonly string[], key: Key) => {
  const watched = await records.open(key);
  let own: Watched["asking"] = null;
  return {
    /** For the session's plan. */
    choose: (results: readonly RecipientResult[], mxHost: string): string | undefined => {
      if (watched.asking || !isInQuestion(watched, countReplies(results, mxHost))) return undefined;
      own = watched.asking = Promise.withResolvers();
      return here[watched.recent.of % here.length];
    },
    /** Returns the summary of an ended session. `isOwn`: the session was at this provider, and not at another host. */
    judge: async (summary: SessionSummary, isOwn: boolean): Promise<SessionSummary> => {
      const seen = readSession(summary);
      if (isOwn && !own && !seen.isProven) await watched.asking?.promise;
      if (isOwn) await records.learn(key, watched, seen);
      if (own) watched.asking = null;
      own?.resolve();
      if (!isOwn || seen.isProven) return summary;
      const judgeOne = watched.proofs.refusedAt > 0 ? disprove : markUnproven(key);
      return { ...summary, answered: summary.answered.map(judgeOne) };
    },
  };
};

const toWitnessKey = (providerKey: string, exit: string): Key => ({
  pk: `PROVIDER#${providerKey}`,
  sk: `WITNESS#${exit}`,
});

const readProofs = async (table: Pick<Table, "get">, key: Key): Promise<Proofs> => {
  const parsed = v.safeParse(Proofs, (await table.get(key)) ?? {});
  return parsed.success ? parsed.output : NO_PROOFS;
};

const add = (a: Count, b: Count): Count => ({ of: a.of + b.of, refused: a.refused + b.refused });

/** Moves recent recipients into the history. */
const forget = (watched: Watched): void => {
  const { of, refused } = add(watched.history, watched.recent);
  const by = of > HISTORY_MAX ? 2 : 1;
  watched.history = { of: of / by, refused: refused / by };
  watched.recent = NONE;
};

const isInQuestion = ({ proofs, history, recent, recipients }: Watched, seen: Count): boolean => {
  if (seen.refused === 0) return false;
  if (proofs.refusedAt > 0) return true;
  if (recipients + seen.of < ROWS_PER_WITNESS) return false;
  const { of, refused } = add(recent, seen);
  // Otherwise a list of deleted addresses would become the history.
  if (refused === of && (history.of < HISTORY_MIN || of >= ROWS_PER_WITNESS)) return true;
  return estimateShare(refused, of).least > estimateShare(history.refused, history.of).most;
};

/** `isProven`: the server accepted a recipient or the witness. */
type Seen = Count & { readonly witness: "accepted" | "refused" | null; readonly isProven: boolean };

const countReplies = (results: readonly RecipientResult[], mxHost: string): Count => {
  const verdicts = results.flatMap(({ reply, stage }) =>
    reply && stage === "rcpt" ? classify(reply, { stage, mxHost }).verdict : [],
  );
  const refused = verdicts.filter((verdict) => verdict === "invalid").length;
  return { of: refused + verdicts.filter((verdict) => verdict === "valid").length, refused };
};

const readSession = ({ attempts, host, witness: reply }: SessionSummary): Seen => {
  const count = countReplies(attempts.at(-1)?.result.recipients ?? [], host);
  const witness = reply ? readWitness(reply, host) : null;
  const hasAccepted = count.of > count.refused;
  return { ...count, witness, isProven: witness === "accepted" || (!witness && hasAccepted) };
};

/** A deferral, a full mailbox or a refusal that is about us anyway shows nothing new. */
const readWitness = (reply: Reply, mxHost: string): Seen["witness"] => {
  const { verdict } = classify(reply, { stage: "rcpt", mxHost });
  if (verdict === "valid") return "accepted";
  return verdict === "invalid" ? "refused" : null;
};

/** True when the server replied that the mailbox does not exist. */
const isAbsence = ({ probeResult, wasTried }: AnsweredProbe): boolean =>
  wasTried && probeResult.finding.verdict === "invalid";

const disprove = (one: AnsweredProbe): AnsweredProbe => {
  if (!isAbsence(one)) return one;
  const { probeResult } = one;
  const finding = classify(REFUSED_WITNESS, { stage: "rcpt", mxHost: probeResult.host });
  return { ...one, probeResult: { ...probeResult, finding } };
};

/** No key of a provider or an exit has a line break. */
const markUnproven =
  ({ pk, sk }: Key) =>
  (one: AnsweredProbe): AnsweredProbe =>
    isAbsence(one)
      ? { ...one, probeResult: { ...one.probeResult, unproven: `${pk}\n${sk}` } }
      : one;

/** True when a witness was refused after the result, or before it without a later proof. */
export const isTakenBack = async (
  table: Pick<Table, "get">,
  { unproven, verifiedAt }: { readonly unproven?: string | undefined; readonly verifiedAt: string },
): Promise<boolean> => {
  if (unproven === undefined) return false;
  const [pk = "", sk = ""] = unproven.split("\n");
  const { provedAt, refusedAt } = await readProofs(table, { pk, sk });
  return refusedAt > 0 && provedAt <= Date.parse(verifiedAt);
};
