import { isUnexpired } from "../../lib/time.ts";
import type { Where } from "../../ports/table.ts";
import { type ItemStore, limitTime } from "../slots/item-store.ts";
import { type Circuit, CLOSED, getCircuitState } from "./circuit.ts";
import {
  type CircuitName,
  parseCircuit,
  type SharedCircuit,
  toCircuitFields,
  toCircuitKey,
} from "./circuit-items.ts";

export type CircuitTablePorts = {
  readonly table: ItemStore;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** Longer than any session: a crash delays the next trial no longer than this. */
export const TRIAL_LEASE_MS = 150_000;
/** Another process changed the item first: how often the change is made again. */
const TRIES_MAX = 4;

export type CircuitChange = { readonly before: Circuit; readonly after: Circuit };

/** The items of circuits. Every write has the version that was read as its condition; trouble with the table rejects. */
export const createCircuitTable = ({ table: untimed, now, sleep }: CircuitTablePorts) => {
  const getMs = () => now().getTime();
  const table = limitTime(untimed, { sleep });

  const read = async (name: CircuitName): Promise<SharedCircuit> =>
    parseCircuit(await table.get(toCircuitKey(name)));

  /** Null: the trial is the caller's. Otherwise the item shows why not. */
  const claimTrial = async (name: CircuitName): Promise<SharedCircuit | null> => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const shared = await read(name);
      // Without an item only the caller knows of the circuit.
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
