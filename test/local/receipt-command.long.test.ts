import { generateKeyPairSync, sign } from "node:crypto";
import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashEvidence } from "@mailproof/core/receipts/receipt-claims";
import { STATUSES } from "@mailproof/core/verify/result";
import { compareReceipt } from "@mailproof/local/cli/compare-receipt";
import { showReceipt } from "@mailproof/local/cli/receipt-command";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test, vi } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { eventually } from "../runner/eventually.ts";
import { createFolder, serveFile, whenCommandedWith, whenRun } from "../servers/running.ts";
import { createEdition, KEYS, SHIPPED } from "../things/editions.ts";

// Goal: a receipt is checked and its verdict judged again by whoever has them, wherever and whenever.
// Method: a server with the lab; the command in this process, and in one that knows nothing of the server.

const { folder, server } = serveFile(async () => ({ LISTS_SIGNER: KEYS.publicKey }));

/** Newer than the release's, and none of the future. */
const NEWER = `${WHOLE_EDITION.version}.1`;

/** One address of a test key for each status. */
const ADDRESSES: Readonly<Record<(typeof STATUSES)[number], string>> = {
  valid: "ann@example.com",
  invalid: "invalid@example.com",
  risky: "full@example.com",
  unknown: "blocked@example.com",
  catch_all: "catch_all@example.com",
  disposable: "ann@disposable.example.com",
  role: "info@example.com",
  spam_trap: "spam_trap@example.com",
};

const post = async (path: string, body: object, key: "live_key" | "test_key") => {
  const { ready } = await server;
  const response = await fetch(`${ready.base_url}${path}`, {
    method: "POST",
    headers: { "x-api-key": ready[key], "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as any;
};

const verify = (email: string, key: "live_key" | "test_key" = "test_key", control?: object) => {
  const options = { include_evidence: true, include_receipt: true };
  return post("/v1/verify", { email, options, control }, key);
};

const form = (email: string, control?: object, key: "live_key" | "test_key" = "test_key") =>
  post("/v1/verify/form", { email, control }, key);

const CONTROL = { token: "test-controlled", nonce: "n", origin: "https://example.com" };

const readRow = async (job: string) => {
  const { ready } = await server;
  return eventually(async () => {
    const response = await fetch(`${ready.base_url}/v1/jobs/${job}/results/1`, {
      headers: { "x-api-key": ready.live_key },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as any;
  });
};

const write = (content: unknown): string => {
  const file = join(createFolder(), "file.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};

const saveKeys = async () => {
  const { ready } = await server;
  return write(await (await fetch(`${ready.base_url}/.well-known/jwks.json`)).text());
};

const check = async (content: unknown, ...options: readonly string[]) => {
  const { ready } = await server;
  const env = { MAILPROOF_API: ready.base_url };
  const { code, out, err } = await whenRun(env, "receipt", write(content), ...options);
  return { code, err, outcome: out === "" ? null : JSON.parse(out) };
};

test("mailproof receipt replays each status's receipt on another machine after its lists changed", async () => {
  const elsewhere = {
    MAILPROOF_DIR: createFolder(),
    LISTS_SIGNER: KEYS.publicKey,
    TZ: "Pacific/Kiritimati",
    LC_ALL: "C",
  };
  const domains = { disposable: [...SHIPPED.disposable, "example.com"] };
  const edition = join(createFolder(), "edition.txt");
  writeFileSync(edition, createEdition({ version: NEWER, domains }));
  const updated = await whenRun(elsewhere, "admin", "lists", "update", edition);
  const keys = await saveKeys();

  const outcomes = await Promise.all(
    Object.values(ADDRESSES).map(async (email) => {
      const file = write(await verify(email));
      const { out } = await whenCommandedWith(elsewhere, "receipt", file, "--keys", keys);
      const { valid, receipt, differences, replay } = JSON.parse(out);
      return [receipt.status, valid, differences, replay];
    }),
  );

  expect(updated.code).toBe(0);
  expect(outcomes).toEqual(Object.keys(ADDRESSES).map((status) => [status, true, [], "same"]));
});

test("mailproof receipt replays the verdict of its time after the service's lists changed", async () => {
  const email = (tag: number) => `ada.lovelace+${tag}@valid.lab.mailproof.test`;
  const before = await verify(email(1), "live_key");
  const domains = { disposable: [...SHIPPED.disposable, "valid.lab.mailproof.test"] };
  const edition = join(createFolder(), "edition.txt");
  writeFileSync(edition, createEdition({ version: NEWER, domains }));
  const env = { MAILPROOF_DIR: folder, LISTS_SIGNER: KEYS.publicKey };
  expect((await whenRun(env, "admin", "lists", "update", edition)).code).toBe(0);
  let tag = 1;
  await eventually(async () => {
    const { data } = await verify(email(++tag), "live_key");
    expect(data.status).toBe("disposable");
  });

  const { code, outcome } = await check(before);

  expect(code).toBe(0);
  expect(outcome).toMatchObject({
    valid: true,
    receipt: {
      status: "valid",
      mode: "live",
      credits: 1,
      lists: before.data.evidence.lists_edition,
    },
    differences: [],
    replay: "same",
  });
  expect(outcome.receipt.lists).not.toBe(NEWER);
});

test("mailproof receipt checks a receipt alone and data without its envelope", async () => {
  const { data } = await verify("ann@example.com");
  const { evidence: _, ...bare } = data;

  expect(await check(`${data.receipt}\n`)).toMatchObject({
    code: 0,
    outcome: { valid: true, differences: [], replay: "none" },
  });
  expect(await check(bare)).toMatchObject({
    code: 0,
    outcome: { valid: true, differences: [], replay: "none" },
  });
});

test("mailproof receipt reports a changed field of a response", async () => {
  const { data } = await verify("invalid@example.com");
  const { evidence } = data;
  const others = {
    status: { ...data, status: "valid" },
    quality_score: { ...data, quality_score: 99 },
    email: { ...data, email: "ann@example.com" },
    evidence: { ...data, evidence: { ...evidence, mail_host: "mx.example.net" } },
  };

  for (const [name, answer] of Object.entries(others)) {
    const { code, outcome } = await check(answer);
    expect([code, outcome.valid, outcome.differences]).toEqual([1, true, [name]]);
  }
});

test("mailproof receipt reports a response field that the receipt does not contain", async () => {
  const { data } = await form("ann@example.com");
  const { data: sent } = await verify("ann@example.com");
  const said = { receipt: data.receipt, status: "valid", quality_score: 100, proof: "controlled" };
  const deep = `{"receipt":"${sent.receipt}","evidence":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;

  expect((await check({ ...data, sub_status: null })).outcome.differences).toEqual([]);
  expect(await check(said)).toMatchObject({
    code: 1,
    outcome: { valid: true, differences: ["status", "quality_score", "proof"] },
  });
  expect(await check(deep)).toMatchObject({
    code: 1,
    outcome: { valid: true, differences: ["evidence"], replay: "none" },
  });
});

test.each([[["ann@example.com"]], [{ toString: 1 }], [null]])(
  "mailproof receipt reports a non-string email such as %j as a difference",
  async (email) => {
    const { data } = await verify("ann@example.com");

    expect(await check({ ...data, email })).toMatchObject({
      code: 1,
      outcome: { valid: true, differences: ["email"] },
    });
  },
);

test("mailproof receipt expects the verdict's reason beside a class, or the class's own where control is proven", async () => {
  const [{ data: full }, { data: proven }] = [
    await verify("full@example.com"),
    await form("ann@example.com", CONTROL),
  ];

  for (const answer of [
    { ...full, class: "go", reason: "accepted" },
    { ...full, class: "go", reason: null },
    { ...proven, reason: "accepted" },
    { ...proven, reason: "listed_disposable" },
  ])
    expect((await check(answer)).outcome.differences).toEqual(["reason"]);
});

test("every kind of response agrees with its receipt", async () => {
  const email = "grace.hopper@valid.lab.mailproof.test";
  const { data: held } = await form("ada.king@valid.lab.mailproof.test", undefined, "live_key");
  const [first, cached] = [await verify(email, "live_key"), await verify(email, "live_key")];
  const answers = [
    first,
    cached,
    await verify("ann@example.com", "test_key", CONTROL),
    await form("ann@example.com"),
    await form("ann@disposable.example.com"),
    await form("info@example.com"),
    await form("info@example.com", CONTROL),
    await form("ann@mailinator.com", CONTROL),
    { data: held },
    await readRow(held.job_id),
  ];

  for (const answer of answers)
    expect(await check(answer)).toMatchObject({ code: 0, outcome: { differences: [] } });
  expect(cached.data.cached).toBe(true);
});

test("mailproof receipt reports evidence that this release judges differently as such, and not as forged", async () => {
  const { data } = await verify("ann@example.com");
  const claims = JSON.parse(Buffer.from(data.receipt.split(".")[1], "base64url").toString());
  const { judged } = data.evidence;
  const compare = (evidence: any) =>
    compareReceipt({ ...claims, evidence_sha256: hashEvidence(evidence) }, { ...data, evidence });

  const other = { ...data.evidence, judged: { ...judged, catch_all: "yes" } };
  const odd = { ...data.evidence, judged: { ...judged, catch_all_confidence: "high" } };
  const { judged: _, ...old } = data.evidence;

  expect(compare(data.evidence)).toEqual({ differences: [], replay: "same" });
  expect(compare(other)).toEqual({ differences: [], replay: "different" });
  expect(compare(odd)).toEqual({ differences: [], replay: "none" });
  expect(compare(old)).toEqual({ differences: [], replay: "none" });
});

test("mailproof receipt distinguishes a forged receipt, another service's receipt and a text without a receipt", async () => {
  const { data } = await verify("ann@example.com");
  const [header, payload, signature] = data.receipt.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const other = Buffer.from(JSON.stringify({ ...claims, credits: 0.5 })).toString("base64url");
  const keys = JSON.parse(readFileSync(await saveKeys(), "utf8"));
  const foreign = write({ keys: keys.keys.map((one: any) => ({ ...one, kid: "2026-other" })) });

  expect(await check(`${header}.${other}.${signature}`)).toMatchObject({
    code: 1,
    outcome: { valid: false, fault: "forged" },
  });
  expect(await check(data.receipt, "--keys", foreign)).toMatchObject({
    code: 1,
    outcome: { valid: false, fault: "unknown_key" },
  });
  expect(await check("one.two.three")).toMatchObject({
    code: 1,
    outcome: { valid: false, fault: "not_a_receipt" },
  });
});

test.each(asRows`
  a response without a receipt | {} | [] | include_receipt
  half of a response | {"data": | [] | neither a receipt nor JSON
  a keys file without a key set | a.b.c | [--keys package.json] | package.json has no key set
  keys that are not JSON | a.b.c | [--keys README.md] | README.md is not JSON
  an absent keys file | a.b.c | [--keys absent.json] | cannot be read (ENOENT)
`)(
  "mailproof receipt exits with 2 and the fault for %s",
  async (_what, content, options, words) => {
    const { code, err } = await check(content, ...options);

    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  },
);

test("mailproof receipt accepts deeply nested claims of an unknown kind", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const keys = write({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k" }] });
  const signClaims = (jti: string): string => {
    const header = '{"alg":"EdDSA","typ":"mailproof-receipt+jwt","kid":"k"}';
    const claims = `{"jti":${jti},"iat":1e18,"email_sha256":"","class":"go"}`;
    const signed = [header, claims]
      .map((text) => Buffer.from(text).toString("base64url"))
      .join(".");
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
  };
  const deep = `"a","x":${"[".repeat(100_000)}${"]".repeat(100_000)}`;

  expect(await check(signClaims(deep), "--keys", keys)).toMatchObject({
    code: 1,
    outcome: { valid: false, fault: "not_a_receipt" },
  });
  expect(await check(signClaims('"a","x":{"toString":[1]}'), "--keys", keys)).toMatchObject({
    code: 0,
    outcome: { valid: true, receipt: { iat: 1e18, x: { toString: [1] } } },
  });
});

test("mailproof receipt refuses an input longer than any receipt, from a file or standard input", async () => {
  const file = join(createFolder(), "file.json");
  writeFileSync(file, "a".repeat(5_000_001));

  const named = await whenRun({}, "receipt", file);
  const input = vi.spyOn(process, "stdin", "get").mockReturnValue(createReadStream(file) as any);
  const piped = await whenRun({}, "receipt", "-");
  input.mockRestore();

  const words = "is over 5000000 bytes, and no receipt is as long.";
  expect([named.code, named.err]).toEqual([2, `${file} ${words}\n`]);
  expect([piped.code, piped.err]).toEqual([2, `The standard input ${words}\n`]);
});

test.each(["null", '{"keys":[null]}'])(
  "mailproof receipt exits with 2 and the file's name for a keys file of %s",
  async (text) => {
    const { data } = await verify("ann@example.com");
    const keys = write(text);

    const { code, err } = await check(data.receipt, "--keys", keys);

    expect([code, err]).toEqual([2, expect.stringContaining(`${keys} has no key set`)]);
  },
);

test("mailproof receipt exits with 2 without a service or keys, and with 6 when the service is silent", async () => {
  const file = write("a.b.c");
  const env = { MAILPROOF_DIR: createFolder() };

  const unnamed = await whenRun(env, "receipt", file);
  const silent = await whenRun(env, "receipt", file, "--api", "http://127.0.0.1:9");

  expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining("--keys FILE")]);
  expect([silent.code, silent.err]).toEqual([6, expect.stringContaining("jwks.json")]);
});

test("mailproof receipt prints the receipt's claims, its differences and the replayed verdict for a person", async () => {
  const { data } = await verify("ann@example.com");
  const claims = JSON.parse(Buffer.from(data.receipt.split(".")[1], "base64url").toString());
  const same = compareReceipt(claims, data);

  const text = showReceipt("2026-abc", { ...claims, iat: 1_800_000_000 }, same);
  const differing = { differences: ["status", "email"], replay: "different" } as const;
  const changed = showReceipt("2026-abc\u001b[1m", claims, differing);
  const odd = showReceipt("k", { iat: 1e18, jti: { toString: 1 }, aud: null }, same);

  expect(text).toMatch(
    /^Signed at 2027-01-15T08:00:00\.000Z by the key 2026-abc:\n {2}aud {13}acc_\S+\n {2}jti {13}job_/,
  );
  expect(text).toContain("\n  status          valid\n");
  expect(text).toMatch(/\nIts evidence, judged again, gives the same verdict\.\n$/);
  expect(changed).toContain("The answer is not as the receipt has it: status, email.\n");
  expect(changed).toContain("This release judges its evidence differently.");
  expect(changed).not.toContain("\u001b");
  expect(odd).toMatch(
    /^Signed at 1000000000000000000 by the key k:\n {2}jti {13}\{"toString":1\}\n/,
  );
});
