import { type OpenedAccount, openAccount } from "@mailproof/core/accounts/accounts";
import { createKey } from "@mailproof/core/accounts/api-keys";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { Scope } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";
import { createIssuers } from "@mailproof/core/control/issuers";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { createReading } from "@mailproof/core/deliverability/reading";
import { credits } from "@mailproof/core/money/credits";
import type { KeyMode } from "@mailproof/core/money/payer";
import type { PlanId } from "@mailproof/core/money/plans";
import type { MailOutcome, OutgoingMail } from "@mailproof/core/ports/mailer";
import { ONE_REQUEST } from "@mailproof/core/ports/one-request";
import { CHUNK_ROWS, CREDITS_PER_SHARD, EXPORT_ROWS } from "@mailproof/core/ports/settings";
import { createRequestLog } from "@mailproof/core/requests/request-log";
import { createListReads } from "@mailproof/core/runtime/list-reads";
import { UNLIMITED_POLLS } from "@mailproof/core/runtime/long-polls";
import { createSandboxEngine } from "@mailproof/core/verify/sandbox";
import { createLists } from "@mailproof/mail/lists/lists";
import { passkeyVerifier } from "@mailproof/net/passkey-verifier";
import { createEmulatedPorts, type EmulatedPorts } from "../aws/emulated-ports.ts";
import { isAwsShaped } from "../aws/shape.ts";
import { createMemoryBlobs } from "../simulation/memory-blobs.ts";
import { memoryQueue } from "../simulation/memory-queue.ts";
import { memoryTable } from "../simulation/memory-table.ts";
import { createRandom } from "../simulation/random.ts";
import { anyDnsLookups } from "./dns-lookups.ts";
import { givenServers } from "./https.ts";
import { formatLine, watchLine } from "./log-lines.ts";
import { createVirtualTime } from "./virtual-time.ts";

export const START = new Date("2026-11-21T00:00:00.000Z");

type Logged = { readonly event: string; readonly fields: Readonly<Record<string, unknown>> };

const createMemoryPorts = (now: () => Date): EmulatedPorts => ({
  table: memoryTable(now),
  queue: memoryQueue(now),
  blobs: createMemoryBlobs(),
});

/** A relay that keeps the mails, or answers as a test says. */
const createMemoryRelay = () => {
  const sent: OutgoingMail[] = [];
  const answers: MailOutcome[] = [];
  const send = async (mail: OutgoingMail): Promise<MailOutcome> => {
    const outcome = answers.shift() ?? { kind: "sent", reply: "250 2.0.0 Ok" };
    if (outcome.kind === "sent") sent.push(mail);
    return outcome;
  };
  return { sent, answers, mailer: { send } };
};

/** A whole world in memory at a fixed moment. Tests change only what they are about. */
export const givenWorld = (seed = 1) => {
  const { now, later, jump, sleep } = createVirtualTime(START);
  const ids = new Map<string, number>();
  const chance = createRandom(seed);
  const { table, queue, blobs } = isAwsShaped ? createEmulatedPorts(now) : createMemoryPorts(now);
  const servers = givenServers(now);
  const relay = createMemoryRelay();
  const logged: Logged[] = [];
  const world: AppWorld = {
    table,
    queue,
    blobs,
    rateLimit: createRateLimit(table, now),
    requestLog: createRequestLog(table, now),
    accessTokens: null,
    // What test keys are answered from serves here as the mail system: no network, and the same each time.
    engine: createSandboxEngine({ engine: { lists: createLists() }, now, sleep }),
    names: anyDnsLookups,
    reading: createReading(now),
    https: servers.https,
    mailer: relay.mailer,
    issuers: createIssuers({
      dns: anyDnsLookups.dns,
      fetchDocument: createDocumentFetcher(servers.https),
      now,
    }),
    oidc: () => Promise.reject(new Error("This world has no identity provider.")),
    passkeys: passkeyVerifier,
    now,
    random: chance,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(chance() * 256)),
    newId: (prefix) => {
      const count = (ids.get(prefix) ?? 0) + 1;
      ids.set(prefix, count);
      return `${prefix}_${count}`;
    },
    sleep,
    ...ONE_REQUEST,
    longPolls: UNLIMITED_POLLS,
    listReads: createListReads(now),
    log: (event, fields) => {
      logged.push({ event, fields });
      watchLine(formatLine(event, fields));
    },
    settings: {
      version: "0.0.0-test",
      keyPepper: "a pepper for tests",
      keyPepperBefore: null,
      cursorSecret: "a cursor secret for tests",
      cursorSecretBefore: null,
      activityKey: "an activity key for tests",
      activityKeyBefore: null,
      activityPool: "own",
      sesAccount: null,
      mailDomain: "mail.example.com",
      publicUrl: null,
      oidc: null,
      mailFrom: null,
      encryptionKey: "a sealing key for tests",
      encryptionKeyBefore: null,
      chunkRows: CHUNK_ROWS,
      exportRows: EXPORT_ROWS,
      slowRowsAfterMs: Number.POSITIVE_INFINITY,
      creditsPerShard: CREDITS_PER_SHARD,
    },
  };
  return { world, table, queue, blobs, servers, relay, later, jump, logged };
};

export type Given = { readonly balance?: number; readonly plan?: PlanId };

/** The same with one account in it and a key of each kind. */
export const given = async ({ balance = 0, plan = "pro" }: Given = {}) => {
  const ctx = givenWorld();
  const opened: OpenedAccount = await openAccount(ctx.world, {
    name: "Ann's Shop",
    plan,
    opening: credits(balance),
  });
  return { ...ctx, ...opened };
};

export const givenKey = async (
  world: AppWorld,
  account: string,
  { mode = "live", scopes }: { mode?: KeyMode; scopes: readonly Scope[] },
): Promise<string> => {
  const { secret } = await createKey(world, { account, name: "Scoped", mode, scopes: [...scopes] });
  return secret;
};
