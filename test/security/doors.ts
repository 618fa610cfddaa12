import type { AppWorld } from "@mailproof/core/app-world";

/** A use of a door: which, how, and for what. */
export type Use = { readonly door: string; readonly said: string };

/** The store of a test numbers what it keeps one by one: a real one does not, and nobody is told. */
const VERSION = /"version":"v\d+"/g;

type Doors = "table" | "queue" | "blobs" | "https" | "names" | "engine" | "tokens";

/**
 * The same world, that notes every use of what is outside of it. What two requests do the same there takes the same
 * time, as far as anybody can learn something from it; and no clock is asked.
 */
export const recorded = (world: AppWorld): { readonly world: AppWorld; readonly uses: Use[] } => {
  const uses: Use[] = [];
  const noted =
    <A extends readonly unknown[], R>(door: string, call: (...args: A) => R) =>
    (...args: A): R => {
      uses.push({ door, said: JSON.stringify(args).replaceAll(VERSION, "") });
      return call(...args);
    };
  const watched = <D extends Doors>(door: D): AppWorld[D] => {
    const behind = world[door];
    if (behind === null) return behind;
    return Object.fromEntries(
      Object.entries(behind).map(([name, part]: [string, unknown]) => [
        name,
        typeof part === "function"
          ? noted(`${door}.${name}`, part as (...args: readonly unknown[]) => unknown)
          : part,
      ]),
    ) as AppWorld[D];
  };
  return {
    uses,
    world: {
      ...world,
      table: watched("table"),
      queue: watched("queue"),
      blobs: watched("blobs"),
      https: watched("https"),
      names: watched("names"),
      engine: watched("engine"),
      tokens: watched("tokens"),
      rateLimit: noted("rateLimit", world.rateLimit),
    },
  };
};

const never = (door: string) => () => {
  throw new Error(`${door} was asked`);
};

/** The same world without a way to anybody: whoever tries one breaks, loudly. */
export const cutOff = (world: AppWorld): { readonly world: AppWorld; readonly tried: string[] } => {
  const tried: string[] = [];
  const no = (door: string) => () => {
    tried.push(door);
    return never(door)();
  };
  return {
    tried,
    world: {
      ...world,
      engine: { ...world.engine, hostsOf: no("engine.hostsOf"), probe: no("engine.probe") },
      names: {
        ...world.names,
        dns: no("names.dns"),
        listDns: no("names.listDns"),
        fetchPolicy: no("names.fetchPolicy"),
      },
      https: { check: no("https.check"), call: no("https.call") },
    },
  };
};
