import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { openapi } from "@mailproof/api/openapi/openapi";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BoundedServer } from "./bounded-server.ts";
import { type Chances, createChances, NASTY_TEXTS } from "./random.ts";
import { drawRequest, listOperations, type Operation } from "./requests.ts";

// Goal: no request of a stranger costs more than a bound: the bytes of its response, the processor time of one turn of the event
// loop, and the memory of the server, which has 400 MB.

const RESPONSE_BYTES_MAX = 2_500_000;
/** Ten times what a slice takes, and a fifth of the least of the faults that were found. */
const TURN_MS_MAX = 250;
const MEMORY_MB = 400;

const document: any = openapi("http://127.0.0.1");
const operations = listOperations(document);

let worker: Worker;
let server: BoundedServer;
const broken = Promise.withResolvers<never>();
broken.promise.catch(() => undefined);

beforeAll(async () => {
  worker = new Worker(new URL("./bounded-server.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  worker.on("error", broken.reject);
  [server] = (await Promise.race([once(worker, "message"), broken.promise])) as [BoundedServer];
}, 120_000);
afterAll(() => worker.terminate());

/** The longest turn since the last call. */
const readTurnMs = async (): Promise<number> => {
  worker.postMessage("figures");
  const [ms] = await Promise.race([once(worker, "message"), broken.promise]);
  return ms;
};

type Sent = { readonly url: string; readonly key?: string; readonly init?: RequestInit };

const send = async ({ url, key, init = {} }: Sent) => {
  const headers = { ...(init.headers as Record<string, string>), ...(key && { "x-api-key": key }) };
  const response = await fetch(`http://127.0.0.1:${server.port}${url}`, {
    redirect: "manual",
    ...init,
    headers,
  });
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
};

const sendWithin = async (all: readonly Sent[]) => {
  await readTurnMs();
  const sent = Promise.all([...all, { url: "/health" }].map(send));
  const answers = await Promise.race([sent, broken.promise]);
  const turnMs = await readTurnMs();
  const urls = all.map(({ url }) => url.slice(0, 200)).join(" ");
  const bytes = Math.max(...answers.map((one) => one.bytes));
  const isBounded = bytes < RESPONSE_BYTES_MAX && turnMs < TURN_MS_MAX;
  expect({ urls, bytes, turnMs, isBounded }).toMatchObject({ isBounded: true });
  expect(answers.at(-1)?.status).toBe(200);
  return answers;
};

/** From all of Unicode: each plane, controls, halves of pairs, and repeats up to a limit. */
const drawText = ({ one, upTo, sometimes }: Chances): string => {
  if (sometimes(0.2)) return one(NASTY_TEXTS);
  const code = () => one([upTo(0x1f), 0x7f, 0x80 + upTo(0x1f), upTo(0xffff), upTo(0x10ffff)]);
  const text = Array.from({ length: 1 + upTo(3) }, () => String.fromCodePoint(code())).join("");
  return sometimes(0.2) ? text.repeat(one([63, 100, 254, 1_000])) : text;
};

const CONTROLS = ["\u0000", "\u001f", "\u007f", "\u0080", "\u009f"];

const toQuery = (pairs: readonly (readonly [string, string])[]): string =>
  new URLSearchParams(
    pairs.map(([name, value]): [string, string] => [name, value.toWellFormed()]),
  ).toString();

test("the service refuses a search for any control character at once", async () => {
  const { job, key } = server.long;
  for (const q of CONTROLS) {
    const query = toQuery([
      ["q", `a${q}`],
      ["sort", "email"],
    ]);
    const [answer] = await sendWithin([{ url: `/v1/jobs/${job}?${query}`, key }]);
    expect(answer?.status).toBe(400);
    const [exported] = await sendWithin([
      { url: `/v1/jobs/${job}/download?${toQuery([["q", q]])}`, key },
    ]);
    expect(exported?.status).toBe(400);
  }
});

test("pages and the inline export of a list of 6,000 columns stay within the bounds", async () => {
  const { job, key } = server.wide;
  for (const query of ["columns=true&limit=1000", "columns=true&limit=1000&sort=-email"]) {
    const [answer] = await sendWithin([{ url: `/v1/jobs/${job}?${query}`, key }]);
    expect(answer?.status).toBe(200);
  }
  await sendWithin([{ url: `/v1/jobs/${job}/download?format=json`, key }]);
});

test("the service refuses a query of thousands of parameters within the bounds", async () => {
  for (const query of ["a&".repeat(7_500), Array.from({ length: 3_000 }, (_, n) => n).join("&")]) {
    const [answer] = await sendWithin([{ url: `/health?${query}` }]);
    expect(answer?.status).toBe(400);
  }
});

test("any order of a long list whose addresses begin alike stays within the bounds", async () => {
  const { job, key } = server.long;
  for (const sort of ["email", "-email", "score", "-row"])
    for (const skip of ["0", "30000", "59990"]) {
      const query = toQuery([
        ["sort", sort],
        ["skip", skip],
      ]);
      const [answer] = await sendWithin([{ url: `/v1/jobs/${job}?${query}`, key }]);
      expect(answer?.status).toBe(200);
    }
});

test("forty different reads of a long list at the same time stay within the bounds", async () => {
  const { job, key } = server.long;
  const reads = Array.from({ length: 40 }, (_, n): Sent => {
    const facets: [string, string][] = n % 2 === 0 ? [["facets", "true"]] : [];
    return { url: `/v1/jobs/${job}?${toQuery([...facets, ["q", `a${n}`]])}`, key };
  });

  const answers = await sendWithin(reads);

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

const SEED = 7;
const DRAWS = 3;

/** A drawn request with other texts in its query. */
const spoilQuery = (chances: Chances, url: string, { operation }: Operation): string => {
  const [path = "", search = ""] = url.split("?");
  const names: string[] = (operation.parameters ?? []).flatMap((one: any) =>
    one.in === "query" ? [one.name] : [],
  );
  const pairs = [...new URLSearchParams(search)].map(([name, value]) =>
    chances.sometimes(0.5) ? ([name, drawText(chances)] as const) : ([name, value] as const),
  );
  if (names.length > 0) pairs.push([chances.one(names), drawText(chances)]);
  return `${path}?${toQuery(pairs)}`;
};

test("drawn texts from all of Unicode stay within the bounds of every operation", async () => {
  const chances = createChances(SEED);
  for (const { job, key } of [server.long, server.wide]) {
    const pools = new Map<string, string[]>([["jobs.id", [job]]]);
    for (const of of operations)
      for (let draw = 0; draw < DRAWS; draw++) {
        const keys = { live: key, test: key, scoped: key };
        const { url, method, headers, body } = drawRequest({ document, chances, pools }, keys, of);
        if (method === "DELETE") continue;
        const init = { method, headers, ...(body !== undefined && { body }) };
        const [answer] = await sendWithin([{ url: spoilQuery(chances, url, of), init }]);
        expect(answer?.status).not.toBe(500);
      }
  }
});
