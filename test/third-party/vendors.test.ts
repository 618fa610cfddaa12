import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { audit } from "@mailproof/core/background/audit";
import { credits } from "@mailproof/core/money/credits";
import { createApiServer } from "@mailproof/local/server/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { given } from "../app/given.ts";
import { readCredits } from "../app/ledger.ts";
import { type BundledStage, CERTIFICATE, startBundledStage } from "../journey/bundled-stage.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Goal: programs that call other verifiers become clients of ours by changing a URL.
// Method: the vendors' own SDKs from npm and PyPI call a server on one machine, and the Lambdas from their bundles.

/** In the order of the statuses valid, invalid, risky, unknown, catch_all, disposable, role, spam_trap. */
const ADDRESSES = [
  "valid@example.com",
  "invalid@example.com",
  "risky@example.com",
  "blocked@example.com",
  "catch_all@example.com",
  "ann@disposable.example.com",
  "info@example.com",
  "spam_trap@example.com",
];

const WORDS = {
  zerobounce: "valid invalid catch-all unknown catch-all do_not_mail do_not_mail spamtrap",
  neverbounce: "valid invalid catchall unknown catchall disposable valid invalid",
  kickbox: "deliverable undeliverable risky unknown risky risky risky risky",
  emailable: "deliverable undeliverable risky unknown risky risky risky risky",
} as const;
type Vendor = keyof typeof WORDS;

type Sdk = {
  readonly name: string;
  readonly vendor: Vendor;
  /** The word of the result, or "refused" and what the SDK throws or returns instead. */
  readonly verify: (base: string, key: string, email: string) => Promise<string>;
  /** Null when the SDK has no such method. */
  readonly readCredits: ((base: string, key: string) => Promise<number>) | null;
};

const load = (name: string): any =>
  createRequire(join(getToolFolder("vendor_sdks"), "package.json"))(name);

const orRefused = (work: () => Promise<string | undefined>): Promise<string> =>
  work()
    .then((word) => word ?? "refused: no word")
    .catch(
      (error: unknown) =>
        `refused: ${error instanceof Error ? error.message : JSON.stringify(error)}`,
    );

const openZeroBounce = (base: string, key: string) => {
  const ZeroBounceSdk = load("@zerobounce/zero-bounce-sdk");
  const client = new ZeroBounceSdk();
  client.init(key, `${base}/compat/zerobounce/v2`);
  return client;
};

const openNeverBounce = (base: string, apiKey: string) => {
  const loaded = load("neverbounce");
  const { hostname: host, port } = new URL(base);
  const apiVersion = "compat/neverbounce/v4.2";
  return new (loaded.default ?? loaded)({ apiKey, apiVersion, opts: { host, port: Number(port) } });
};

const openEmailable = (base: string, key: string) => {
  const client = load("emailable")(key);
  client.client.instance.defaults.baseURL = `${base}/compat/emailable/v1/`;
  return client;
};

const OF_NODE: readonly Sdk[] = [
  {
    name: "@zerobounce/zero-bounce-sdk of npm",
    vendor: "zerobounce",
    verify: (base, key, email) =>
      orRefused(async () => (await openZeroBounce(base, key).validateEmail(email)).status),
    readCredits: async (base, key) =>
      Number((await openZeroBounce(base, key).getCredits()).Credits),
  },
  {
    name: "neverbounce of npm",
    vendor: "neverbounce",
    verify: (base, key, email) =>
      orRefused(async () => (await openNeverBounce(base, key).single.check(email)).getResult()),
    readCredits: async (base, key) =>
      (await openNeverBounce(base, key).account.info()).credits_info.paid_credits_remaining,
  },
  {
    name: "kickbox of npm",
    vendor: "kickbox",
    verify: (base, key, email) =>
      orRefused(async () => {
        const options = { base, api_version: "compat/kickbox/v2" };
        const { promise, resolve, reject } = Promise.withResolvers<any>();
        load("kickbox")
          .client(key, options)
          .kickbox()
          .verify(email, (error: unknown, response: unknown) =>
            error ? reject(error as Error) : resolve(response),
          );
        return (await promise).body.result;
      }),
    readCredits: null,
  },
  {
    name: "emailable of npm",
    vendor: "emailable",
    verify: (base, key, email) =>
      orRefused(async () => (await openEmailable(base, key).verify(email)).state),
    readCredits: async (base, key) => (await openEmailable(base, key).account()).available_credits,
  },
];

/** Reads calls as lines of JSON, and prints what each SDK says as a line of JSON. */
const PYTHON = `
import json, sys
import emailable, kickbox, neverbounce_sdk, neverbounce_sdk.utils, zerobouncesdk

def word(value):
    return getattr(value, "value", value)

def zerobounce(base, key, email):
    client = zerobouncesdk.ZeroBounce(key, base + "/compat/zerobounce/v2")
    if email is None:
        return int(word(client.get_credits().credits))
    return word(client.validate(email).status)

def neverbounce(base, key, email):
    neverbounce_sdk.utils.API_ROOT = base + "/compat/neverbounce"
    with neverbounce_sdk.client(api_key=key) as client:
        if email is None:
            return client.account_info()["credits_info"]["paid_credits_remaining"]
        return client.single_check(email)["result"]

def kickbox_word(base, key, email):
    options = {"base": base, "api_version": "compat/kickbox/v2"}
    return kickbox.Client(key, options).kickbox().verify(email).body["result"]

def emailable_word(base, key, email):
    client = emailable.Client(key)
    client.base_url = base + "/compat/emailable/v1/"
    return client.account().available_credits if email is None else client.verify(email).state

def zerobounce_batch(base, key, email):
    client = zerobouncesdk.ZeroBounce(key, base + "/compat/zerobounce/v2")
    client.BULK_BASE_URL = base + "/compat/zerobounce/v2"
    batch = [zerobouncesdk.ZBValidateBatchElement(email, "")]
    found = client.validate_batch(batch)
    return word(found.email_batch[0].status) if found.email_batch else "refused: " + found.errors[0].error

sdks = {"zerobounce": zerobounce, "neverbounce": neverbounce, "kickbox": kickbox_word,
        "emailable": emailable_word, "batch": zerobounce_batch}
for line in sys.stdin:
    call = json.loads(line)
    try:
        answer = sdks[call["sdk"]](call["base"], call["key"], call["email"])
    except Exception as error:
        answer = "refused: " + str(error)
    print(json.dumps(answer), flush=True)
`;

type Closers = (() => unknown)[];

type PythonCall = (call: {
  readonly sdk: string;
  readonly base: string;
  readonly key: string;
  readonly email: string | null;
}) => Promise<unknown>;

/** One process for all calls: it starts longer than it answers. */
const startPython = (certificate: string, closers: Closers): PythonCall => {
  const child = spawn(join(getToolFolder("vendor_sdks_py"), "bin/python"), ["-c", PYTHON], {
    env: { ...process.env, REQUESTS_CA_BUNDLE: certificate },
    stdio: ["pipe", "pipe", "inherit"],
  });
  closers.push(() => child.kill());
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (call) => {
    child.stdin.write(`${JSON.stringify(call)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error("Python has ended.");
    return JSON.parse(value);
  };
};
let callPython: PythonCall;

const toPython = (sdk: string, vendor: Vendor, name: string): Sdk => ({
  name,
  vendor,
  verify: async (base, key, email) => String(await callPython({ sdk, base, key, email })),
  readCredits:
    sdk === "kickbox" || sdk === "batch"
      ? null
      : async (base, key) => Number(await callPython({ sdk, base, key, email: null })),
});

const OF_PYTHON: readonly Sdk[] = [
  toPython("zerobounce", "zerobounce", "zerobouncesdk of PyPI"),
  toPython("batch", "zerobounce", "a batch of zerobouncesdk of PyPI"),
  toPython("neverbounce", "neverbounce", "neverbounce-sdk of PyPI"),
  toPython("kickbox", "kickbox", "kickbox of PyPI"),
  toPython("emailable", "emailable", "emailable of PyPI"),
];

type Target = {
  readonly url: string;
  readonly key: string;
  readonly testKey: string;
  /** The key of an account without credits. */
  readonly poorKey: string;
  readonly readLedger: () => Promise<Readonly<Record<string, unknown>>>;
};

/** Some SDKs know no protocol but https. */
const openFront = async (target: () => Target, closers: Closers): Promise<string> => {
  const { key, cert } = CERTIFICATE;
  const folder = mkdtempSync(join(tmpdir(), "mailproof-vendors-"));
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, cert]);
  const certificate = join(folder, "cert.pem");
  writeFileSync(certificate, cert);
  callPython = startPython(certificate, closers);
  const pass = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = "GET", url = "", headers } = incoming;
    const body = await buffer(incoming);
    const sent = ["content-type", "authorization", "x-api-key"].flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value] as [string, string]] : [];
    });
    const response = await fetch(target().url + url, {
      method,
      headers: sent,
      ...(body.length > 0 && { body }),
    });
    const type = response.headers.get("content-type") ?? "";
    answer.writeHead(response.status, { "content-type": type }).end(await response.text());
  };
  const server = createServer({ key, cert }, (incoming, answer) => {
    pass(incoming, answer).catch(() => answer.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    setDefaultCACertificates(before);
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
};

const startOneMachine = async (closers: Closers): Promise<Target> => {
  const ctx = await given({ balance: 1_000 });
  const { world, account } = ctx;
  const opening = { name: "Poor", plan: "pro" as const, opening: credits(0) };
  const poor = await openAccount(world, opening);
  const server = createApiServer(world, () => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: ctx.liveKey,
    testKey: ctx.testKey,
    poorKey: poor.liveKey,
    readLedger: async () => {
      const { ok } = await audit(ctx.table, world.now());
      return { ...(await readCredits({ table: ctx.table, account })), ok };
    },
  };
};

const startBundles = async (closers: Closers): Promise<Target> => {
  const stage: BundledStage = await startBundledStage(process.env["LAMBDA_BUNDLES"]);
  closers.push(stage.stop);
  const { artefact, testKey, poorKey } = stage;
  const { baseUrl, key, capabilities } = artefact;
  return {
    url: baseUrl,
    key,
    testKey,
    poorKey,
    readLedger: async () => {
      const answer = await fetch(`${baseUrl}/v1/account`, { headers: { "x-api-key": key } });
      const { data } = (await answer.json()) as { data: any };
      const ok = (await capabilities.admin?.("audit")) as { readonly ok: boolean };
      return { ...data.credits, ...ok, faults: stage.listFaults() };
    },
  };
};

const ABSENCE = findToolAbsence("vendor_sdks") ?? findToolAbsence("vendor_sdks_py");

describeUnless(ABSENCE, "the SDKs of other verifiers", () => {
  describe.each([
    ["a server on one machine", startOneMachine, "valid@example.com"],
    ["the bundles of the Lambdas", startBundles, "ada.lovelace@valid.lab.mailproof.test"],
  ] as const)("call %s", (_name, start, paid) => {
    let target: Target;
    let base = "";
    let spent = 0;
    const closers: Closers = [];
    beforeAll(async () => {
      target = await start(closers);
      base = await openFront(() => target, closers);
    });
    afterAll(async () => {
      for (const close of closers.toReversed()) await close();
    });

    test.each([...OF_NODE, ...OF_PYTHON])(
      "$name reads each status, the credits, a wrong key, no credits and a bad address",
      async ({ vendor, verify, readCredits: read }) => {
        const { key, testKey, poorKey } = target;
        const words: string[] = [];
        for (const email of ADDRESSES) words.push(await verify(base, testKey, email));
        const word = WORDS[vendor].split(" ");

        expect(words).toEqual(word);
        expect(await verify(base, testKey, "no address")).toBe(word[1]);
        expect(await verify(base, "mp_live_none", paid)).toMatch(/^refused/);
        expect(await verify(base, poorKey, paid)).toMatch(/^refused/);
        expect(await verify(base, key, paid)).toBe(word[0]);
        // Another client has paid for the whole result; a repeat within a day costs half a credit.
        spent += spent === 0 ? 1 : 0.5;
        const left = Math.floor(1_000 - spent);
        expect(read ? await read(base, key) : left).toBe(left);
      },
    );

    test("the ledger has each paid verification once", async () => {
      const ledger = await target.readLedger();

      expect(ledger).toMatchObject({ available: 1_000 - spent, held: 0, spent, ok: true });
      expect(ledger["faults"] ?? []).toEqual([]);
    });
  });
});
