import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { credits } from "@mailproof/core/money/credits";
import { createRandom } from "../../simulation/random.ts";
import { startBeside, startService } from "../../soak/service.ts";
import { openAccounts } from "../../soak/setup.ts";
import {
  type Ask,
  addFromLedger,
  type Payer,
  type Reply,
  readBalance,
  runClient,
} from "./clients.ts";
import { createHistory, type History, type Jump, toSpan } from "./history.ts";

// A recording at the HTTP API of the server's process, which is killed repeatedly and started on the same folder.

export type Size = {
  readonly operations: number;
  readonly kills: number;
  readonly accounts: number;
  readonly seed: number;
};

const CLIENTS_PER_ACCOUNT = 3;
/** Every third account is poor: most of its requests are refused. */
const OPENING = { rich: 1_000_000, poor: 250 };
/** For so long a killed server stays away, by its own clock: every lease has expired, the reconciler's own too. */
const AWAY_MS = 6 * 60_000;
/** A server repairs what was left when it starts. It is killed no sooner than after this. */
const LIFE_MIN_MS = 1_500;
const SETTLED_WITHIN_MS = 60_000;

const isOwn = (name: string): string => `--import=${resolve(import.meta.dirname, name)}`;

export const recordOnServer = async (
  { operations, kills, accounts, seed }: Size,
  plantedBug = "",
): Promise<History> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-money-"));
  const state = join(folder, "state");
  const clock = join(folder, "clock-ahead");
  writeFileSync(clock, "0");
  const payers = await openPayers(state, accounts);
  const network = await startBeside<Readonly<Record<string, string>>>("lab.ts");
  const service = await startService(folder, {
    ...network.first,
    NODE_OPTIONS: ["../../local/idle-machine.ts", "preload.ts"].map(isOwn).join(" "),
    CLOCK_AHEAD_FILE: clock,
    PLANTED_BUG: plantedBug,
  });
  const history = createHistory();
  const chance = createRandom(seed);
  let aheadMs = 0;
  /** Each ends a life of the server, and what that life began. */
  const jumps: Jump[] = [];
  const recording = {
    history,
    ask: createAsk(service.baseUrl),
    chance,
    serviceNow: () => Date.now() + aheadMs,
  };
  for (const { account, amount } of payers)
    history.add(account, 0, [0, 0], { kind: "open", amount: credits(amount) });

  const isOver = () => history.count() >= operations;
  const killAgain = async (): Promise<void> => {
    for (let kill = 1; kill <= kills; kill++) {
      const count = (operations * (kill - chance() / 2)) / (kills + 1);
      const readyAt = performance.now();
      while (history.count() < count || performance.now() - readyAt < LIFE_MIN_MS)
        await setTimeout(5);
      await service.stop("SIGKILL");
      jumps.push({ service: recording.serviceNow(), at: history.now() });
      writeFileSync(clock, String((aheadMs += AWAY_MS)));
      await service.start();
    }
  };
  const clients = payers.flatMap((payer) =>
    Array.from({ length: CLIENTS_PER_ACCOUNT }, (_, number) => ({
      ...recording,
      ...payer,
      number,
    })),
  );
  try {
    await Promise.all([...clients.map((client) => runClient(client, isOver)), killAgain()]);
    await whenSettled(recording.ask, payers);
    jumps.push({ service: recording.serviceNow(), at: history.now() });
    for (const payer of payers) {
      const reader = { ...recording, ...payer, number: 0 };
      await readBalance(reader);
      await addFromLedger(reader, (time) => toSpan(jumps, time, 1));
    }
    return history;
  } finally {
    await service.stop("SIGKILL");
    network.end();
    rmSync(folder, { recursive: true, force: true });
  }
};

const openPayers = async (
  state: string,
  count: number,
): Promise<readonly (Payer & { readonly amount: number })[]> => {
  const opened = [];
  for (const [kind, amount] of Object.entries(OPENING)) {
    const numbers = Array.from({ length: count }, (_, at) => at).filter(
      (at) => (at % 3 === 0) === (kind === "poor"),
    );
    const plans = Object.fromEntries(numbers.map((at) => [`payer ${at}`, "scale" as const]));
    opened.push(
      ...Object.values(await openAccounts(state, plans, amount)).map((one) => ({ ...one, amount })),
    );
  }
  return opened;
};

const createAsk =
  (baseUrl: string): Ask =>
  async (apiKey, { method, path, body, key }) => {
    const headers = {
      "x-api-key": apiKey,
      ...(body && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    try {
      const response = await fetch(`${baseUrl}${path}`, sent);
      return { status: response.status, ...((await response.json()) as object) } as Reply;
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      return code === "ECONNREFUSED" ? "not_sent" : "lost";
    }
  };

/** No credits are held any more: what the last kill left has ended. */
const whenSettled = async (ask: Ask, payers: readonly Payer[]): Promise<void> => {
  const until = performance.now() + SETTLED_WITHIN_MS;
  for (const { live } of payers)
    while (performance.now() < until) {
      const reply = await ask(live, { method: "GET", path: "/v1/account" });
      if (typeof reply === "object" && reply.data?.credits.held === 0) break;
      await setTimeout(100);
    }
};
