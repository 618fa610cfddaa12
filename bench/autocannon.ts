import { createRequire } from "node:module";

export type Load = {
  readonly url: string;
  readonly connections: number;
  /** Seconds, or so many requests. */
  readonly duration?: number;
  readonly amount?: number;
  readonly method: "POST";
  readonly body: string;
  readonly setupClient: (client: { setHeaders: (headers: Record<string, string>) => void }) => void;
};
export type Loaded = {
  readonly requests: { readonly average: number };
  readonly latency: { readonly p99: number; readonly p50: number };
  readonly non2xx: number;
  readonly "2xx": number;
};

const require = createRequire(new URL("package.json", import.meta.url));

/** The load generator, which bench/run.ts installs with the peers. */
export const load = (wanted: Load): Promise<Loaded> =>
  (require("autocannon") as (load: Load) => Promise<Loaded>)(wanted);

export const CONNECTIONS = 50;

/** `POST /v1/verify` about one address. The connections take turns with the keys. */
export const callVerify = (
  baseUrl: string,
  email: string,
  keys: readonly string[],
  wanted: Pick<Load, "amount" | "duration">,
): Promise<Loaded> => {
  let connection = 0;
  return load({
    ...wanted,
    url: `${baseUrl}/v1/verify`,
    connections: CONNECTIONS,
    method: "POST",
    body: JSON.stringify({ email }),
    setupClient: (client) =>
      client.setHeaders({
        "x-api-key": keys[connection++ % keys.length] ?? "",
        "content-type": "application/json",
      }),
  });
};

/** Why nothing can be sent, or null. */
export const findObstacle = (): string | null => {
  try {
    require.resolve("autocannon");
    return null;
  } catch {
    return "the load generator could not be installed: npm install --prefix bench";
  }
};
