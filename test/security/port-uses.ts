import type { AppWorld } from "@mailproof/core/app-world";

/** A use of a port: which, how, and for what. */
export type PortUse = { readonly port: string; readonly args: string };

/** The store of a test numbers its objects one by one: a real one does not, and no response shows it. */
const VERSION = /"version":"v\d+"/g;

type PortName = "table" | "queue" | "blobs" | "https" | "names" | "engine" | "accessTokens";

/**
 * The same world, that notes every use of what is outside of it. What two requests do the same there takes the same
 * time, as far as it reveals something; and no clock is asked.
 */
export const recordUses = (
  world: AppWorld,
): { readonly world: AppWorld; readonly uses: PortUse[] } => {
  const uses: PortUse[] = [];
  const recordCalls =
    <A extends readonly unknown[], R>(port: string, call: (...args: A) => R) =>
    (...args: A): R => {
      uses.push({ port, args: JSON.stringify(args).replaceAll(VERSION, "") });
      return call(...args);
    };
  const watchPort = <D extends PortName>(port: D): AppWorld[D] => {
    const target = world[port];
    if (target === null) return target;
    return Object.fromEntries(
      Object.entries(target).map(([name, part]: [string, unknown]) => [
        name,
        typeof part === "function"
          ? recordCalls(`${port}.${name}`, part as (...args: readonly unknown[]) => unknown)
          : part,
      ]),
    ) as AppWorld[D];
  };
  return {
    uses,
    world: {
      ...world,
      table: watchPort("table"),
      queue: watchPort("queue"),
      blobs: watchPort("blobs"),
      https: watchPort("https"),
      names: watchPort("names"),
      engine: watchPort("engine"),
      accessTokens: watchPort("accessTokens"),
      rateLimit: recordCalls("rateLimit", world.rateLimit),
    },
  };
};

const throwUsed = (port: string) => () => {
  throw new Error(`${port} was asked`);
};

/** The same world without a network: a call that tries to use it throws. */
export const denyAll = (
  world: AppWorld,
): { readonly world: AppWorld; readonly attempted: string[] } => {
  const attempted: string[] = [];
  const deny = (port: string) => () => {
    attempted.push(port);
    return throwUsed(port)();
  };
  return {
    attempted,
    world: {
      ...world,
      engine: {
        ...world.engine,
        findMailHosts: deny("engine.hostsOf"),
        probe: deny("engine.probe"),
      },
      names: {
        ...world.names,
        dns: deny("names.dns"),
        listDns: deny("names.listDns"),
        fetchDocument: deny("names.fetchDocument"),
      },
      https: { check: deny("https.check"), call: deny("https.call") },
    },
  };
};
