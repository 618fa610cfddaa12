import { randomBytes } from "node:crypto";
import { generateKey } from "@mailproof/core/accounts/key-format";
import { type Attack, ask, type Means, many, type Round, upload } from "./attack.ts";

// Requests that cost the service more than the client, or that are refused by the thousand.

const BODY_BYTES = 4_900_000;

/** As large as a batch may be, and hard to read. */
const hugeBody =
  (text: string) =>
  (means: Means): Round =>
  (signal) =>
    ask(means, "POST /v1/verify/batch", { key: means.liveKey, text, signal });

const names = (): string => {
  const fields = many(Math.floor(BODY_BYTES / 12), (n) => `"n${n.toString(36)}":0`);
  return `{${fields.join(",")}}`;
};

/** So many at a time, repeatedly. */
const refused =
  (route: string, keyOf: (means: Means) => string, count: number) =>
  (means: Means): Round =>
  (signal) =>
    Promise.all(many(count, () => ask(means, route, { key: keyOf(means), signal })));

const junkFiles =
  (means: Means): Round =>
  async (signal) => {
    const key = means.liveKey;
    const file_key = await upload(means, randomBytes(1_000_000), { key, signal });
    if (file_key === undefined) return;
    const body = { action: "process", file_key };
    await ask(means, "POST /v1/verify/file", { key, body, signal });
  };

/** Every job of the account, and every test call, goes to a receiver that never responds. */
const slowReceiver = (means: Means): Round => {
  let id: string | undefined;
  let made = 0;
  const { liveKey: key, slowUrl: url } = means;
  return async (signal) => {
    const wanted = { url, events: ["job.completed"] };
    id ??= (await ask(means, "POST /v1/webhooks", { key, body: wanted, signal }))?.id;
    const batch = () => ({
      emails: [`ada.lovelace+${made++}@${means.company}`],
      webhook_url: url,
    });
    await Promise.all(
      many(5, async () => {
        await ask(means, "POST /v1/verify/batch", { key, body: batch(), signal });
        await ask(means, `POST /v1/webhooks/${id}/test`, { key, signal });
      }),
    );
  };
};

/** Of the right form, but of no account: each has to be looked up. */
const wrongKey = (): string => generateKey("live", randomBytes);

export const requestAttacks: readonly Attack[] = [
  {
    name: "5 MB of brackets",
    plan: "scale",
    pauseMs: 1_000,
    begin: hugeBody(`{"emails":${"[".repeat(BODY_BYTES)}`),
  },
  { name: "5 MB of names", plan: "scale", pauseMs: 1_000, begin: hugeBody(names()) },
  {
    name: "wrong keys",
    plan: null,
    pauseMs: 200,
    begin: refused("GET /v1/account", wrongKey, 20),
  },
  {
    name: "beyond the rate limit",
    plan: "free",
    pauseMs: 200,
    begin: refused("GET /v1/account", ({ liveKey }) => liveKey, 20),
  },
  { name: "junk to process", plan: "scale", pauseMs: 2_000, begin: junkFiles },
  { name: "webhooks to a slow receiver", plan: "scale", pauseMs: 3_000, begin: slowReceiver },
];
