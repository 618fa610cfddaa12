import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { type ItemStore, limitTime } from "../../lib/limit-time.ts";
import { isUnexpired } from "../../lib/time.ts";
import type { Where } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import {
  applyReplies,
  type Circuit,
  CLOSED,
  getCircuitState,
  type ReplyToUs,
  type SessionTime,
} from "./circuit.ts";
import {
  type CircuitName,
  formatCircuitName,
  parseCircuit,
  type SharedCircuit,
  toCircuitFields,
  toCircuitKey,
} from "./circuit-items.ts";

/** Without a table this process counts alone. */
export type CircuitPorts = Pick<World, "now" | "sleep"> & { readonly table?: ItemStore };

/** A process reads an older item again before the next session. */
const FRESH_MS = 10_000;
/** The number of provider and exit pairs that this process remembers; it reads a forgotten pair again. */
const REMEMBERED_MAX = 50_000;

/** `hasTrial`: this process opens the one session after the pause. `trialUntilMs`: another process does. */
type LocalCircuit = {
  circuit: Circuit;
  /** The write to the table failed. */
  isUnsaved: boolean;
  readAtMs: number;
  /** The last read, which concurrent sessions share. */
  read: Promise<void>;
  hasTrial: boolean;
  trialUntilMs: number;
};

/**
 * The circuits of mail providers. This process uses its own knowledge at once; other processes read it from the table.
 * Nothing here rejects: without the table each process counts alone, and no verdict changes.
 */
export const createSharedCircuits = ({ table, now, sleep }: CircuitPorts) => {
  const items = table ? createCircuitTable({ table, now, sleep }) : null;
  const circuits = createBoundedMap<LocalCircuit>({ weightMax: REMEMBERED_MAX });
  const getMs = () => now().getTime();

  const getLocal = (name: CircuitName): LocalCircuit => {
    const key = formatCircuitName(name);
    const local = circuits.get(key) ?? createLocalCircuit();
    circuits.set(key, local);
    return local;
  };

  const adopt = (local: LocalCircuit, shared: SharedCircuit): void => {
    if (!local.isUnsaved) local.circuit = shared.version === 0 ? CLOSED : shared.circuit;
    if (!local.hasTrial) local.trialUntilMs = shared.trialUntilMs;
  };

  const refreshOne = async (name: CircuitName): Promise<void> => {
    const local = getLocal(name);
    if (!items || Math.abs(getMs() - local.readAtMs) < FRESH_MS) return local.read;
    local.readAtMs = getMs();
    local.read = items.read(name).then((shared) => adopt(local, shared), ignoreError);
    return local.read;
  };

  /** False when another session has the trial. */
  const claimTrial = async (name: CircuitName): Promise<boolean> => {
    const local = getLocal(name);
    if (local.hasTrial || isUnexpired(local.trialUntilMs, getMs(), TRIAL_LEASE_MS)) return false;
    local.hasTrial = true;
    const taken = items ? await items.claimTrial(name).catch(() => null) : null;
    if (!taken) return true;
    local.hasTrial = false;
    adopt(local, taken);
    return false;
  };

  /** Call when the session with the trial has ended, or does not begin. */
  const endTrial = (name: CircuitName): void => {
    const local = getLocal(name);
    local.hasTrial = false;
    local.trialUntilMs = 0;
  };

  /** Call after a session. Returns the circuit when these replies opened it, otherwise null. */
  const apply = async (
    name: CircuitName,
    replies: readonly ReplyToUs[],
    { openings, beganAtMs, isTrial }: Omit<SessionTime, "atMs"> & { readonly isTrial: boolean },
  ): Promise<Circuit | null> => {
    const change = (circuit: Circuit): Circuit =>
      applyReplies(circuit, replies, { openings, beganAtMs, atMs: getMs() });
    const local = getLocal(name);
    let changed: CircuitChange = { before: local.circuit, after: change(local.circuit) };
    local.circuit = changed.after;
    if (isTrial) endTrial(name);
    // A circuit that was never opened needs no place in memory. With a table, its place has the time of the last read.
    if (!items && local.circuit === CLOSED && !local.hasTrial)
      circuits.delete(formatCircuitName(name));
    if (items && (changed.after !== changed.before || isTrial)) {
      const stored = await items.changeCircuit(name, change, isTrial).catch(() => null);
      local.isUnsaved = stored === null;
      changed = stored ?? changed;
      local.circuit = changed.after;
    }
    return changed.after.openings > changed.before.openings ? changed.after : null;
  };

  const get = (name: CircuitName): Circuit =>
    circuits.get(formatCircuitName(name))?.circuit ?? CLOSED;
  return {
    get,
    getState: (name: CircuitName) => getCircuitState(get(name), getMs()),
    refresh: async (providerKey: string, exits: readonly string[]): Promise<void> =>
      void (await Promise.all(exits.map((exit) => refreshOne({ providerKey, exit })))),
    claimTrial,
    endTrial,
    apply,
  };
};

const createLocalCircuit = (): LocalCircuit => ({
  circuit: CLOSED,
  isUnsaved: false,
  readAtMs: Number.NEGATIVE_INFINITY,
  read: Promise.resolve(),
  hasTrial: false,
  trialUntilMs: 0,
});

const ignoreError = (): void => {};

/** Longer than any session: a crash delays the next trial no longer than this. */
const TRIAL_LEASE_MS = 150_000;
/** How often a write is repeated after another process changed the item first. */
const TRIES_MAX = 4;

type CircuitChange = { readonly before: Circuit; readonly after: Circuit };

/** Reads and writes the items of circuits. Every write requires the version that was read, and rejects when the table fails. */
const createCircuitTable = ({ table: untimed, now, sleep }: Required<CircuitPorts>) => {
  const getMs = () => now().getTime();
  const table = limitTime(untimed, { sleep });

  const read = async (name: CircuitName): Promise<SharedCircuit> =>
    parseCircuit(await table.get(toCircuitKey(name)));

  /** Null when the caller has the trial. Otherwise the item shows the reason. */
  const claimTrial = async (name: CircuitName): Promise<SharedCircuit | null> => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const shared = await read(name);
      // Without an item, only the caller knows about the circuit.
      if (shared.version === 0) return null;
      const isHalfOpen = getCircuitState(shared.circuit, getMs()) === "half_open";
      if (!isHalfOpen || isUnexpired(shared.trialUntilMs, getMs(), TRIAL_LEASE_MS)) return shared;
      const set = { trial_until: getMs() + TRIAL_LEASE_MS, version: shared.version + 1 };
      const where = { version: shared.version };
      const { outcome } = await table.write({ update: toCircuitKey(name), set, where });
      if (outcome !== "refused") return null;
    }
    throw new Error("other processes claim the trial at the same time");
  };

  /** `endsTrial`: the trial ends even if the circuit stays as it is. */
  const changeCircuit = async (
    name: CircuitName,
    change: (circuit: Circuit) => Circuit,
    endsTrial: boolean,
  ): Promise<CircuitChange> => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { circuit: before, version } = await read(name);
      const after = change(before);
      if (after === before && !(endsTrial && version > 0)) return { before, after };
      const key = toCircuitKey(name);
      const where: Where = { version: version > 0 ? version : { missing: true } };
      const set = { ...toCircuitFields(name, after), version: version + 1 };
      const written = await table.write(
        after === CLOSED ? { remove: key, where } : { update: key, set, where, orCreate: true },
      );
      if (written.outcome === "committed") return { before, after };
    }
    throw new Error("the table did not take the circuit");
  };

  return { read, claimTrial, changeCircuit };
};
