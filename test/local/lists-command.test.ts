import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, onTestFinished, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { eventually } from "../runner/eventually.ts";
import { createFolder, whenRun, whenStarted } from "../servers/running.ts";
import { createEdition, KEYS, OTHER_KEYS, SHIPPED } from "../things/editions.ts";

// Goal: an operator brings newer lists to a server that runs on, and nothing that is wrong with a file reaches it.
// Method: a server with the lab; its domain `valid` becomes disposable by an edition.

const DOMAIN = "valid.lab.mailproof.test";
const domains = { disposable: [...SHIPPED.disposable, DOMAIN] };
const BUILT_IN = WHOLE_EDITION.version;
/** This year's tests run for years: each edition is newer than that of the release, and none is of the future. */
const [FIRST, SECOND] = [`${BUILT_IN}.1`, `${BUILT_IN}.2`];

const setup = () => {
  const folder = createFolder();
  const files = createFolder();
  const env = { MAILPROOF_DIR: folder, LISTS_SIGNER: KEYS.publicKey };
  const write = (name: string, content: Uint8Array): string => {
    const file = join(files, name);
    writeFileSync(file, content);
    return file;
  };
  const run = async (...args: readonly string[]) => {
    const { code, out, err } = await whenRun(env, "admin", "lists", ...args);
    return { code, err, output: out === "" ? null : JSON.parse(out) };
  };
  return { folder, env, write, run };
};

let addresses = 0;

/** Each time another address: the result cache has the one before. */
const verify = async (ready: { readonly base_url: string; readonly live_key: string }) => {
  const response = await fetch(`${ready.base_url}/v1/verify`, {
    method: "POST",
    headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
    body: JSON.stringify({
      email: `ada.lovelace+${++addresses}@${DOMAIN}`,
      options: { include_evidence: true },
    }),
  });
  const { data } = (await response.json()) as any;
  return { status: data.status, edition: data.evidence.lists_edition, lists: data.evidence.lists };
};

const readHealth = async ({ base_url: url }: { readonly base_url: string }) =>
  ((await (await fetch(`${url}/health`)).json()) as any).lists;

test("a running server accepts an update and a rollback, and each verdict's evidence states the edition", async () => {
  const { folder, env, write, run } = setup();
  const { ready, readLog, pid } = await whenStarted(folder, [], env);
  const takes = (version: string) =>
    eventually(async () => expect((await readHealth(ready)).version).toBe(version));

  expect(await verify(ready)).toMatchObject({ status: "valid", edition: BUILT_IN });
  const first = await run("update", write("first.txt", createEdition({ version: FIRST, domains })));
  await takes(FIRST);

  expect(first).toMatchObject({ code: 0, output: { version: FIRST, before: BUILT_IN } });
  expect(await readHealth(ready)).toEqual({ version: FIRST, age_days: expect.any(Number) });
  const listed = { list: "disposable", source: "disposable", version: "1.0.0" };
  expect(await verify(ready)).toMatchObject({
    status: "disposable",
    edition: FIRST,
    lists: expect.arrayContaining([expect.objectContaining(listed)]),
  });

  await run("update", write("second.txt", createEdition({ version: SECOND })));
  await takes(SECOND);
  expect((await verify(ready)).status).toBe("valid");

  expect(await run("rollback")).toMatchObject({ code: 0, output: { version: FIRST } });
  await takes(FIRST);
  expect((await verify(ready)).status).toBe("disposable");

  expect(await run("rollback")).toMatchObject({ code: 0, output: { version: BUILT_IN } });
  await takes(BUILT_IN);
  expect(await run("rollback")).toMatchObject({
    code: 1,
    err: expect.stringContaining("no installed edition"),
  });
  const replaced = readLog().filter(({ event }) => event === "lists_replaced");
  expect(replaced.map(({ version }) => version)).toEqual([FIRST, SECOND, FIRST, BUILT_IN]);
  expect(() => process.kill(pid, 0)).not.toThrow();
});

test("an update keeps the operator's allow list, which the look-up shows before and after the update", async () => {
  const { folder, env, write, run } = setup();
  writeFileSync(join(folder, "lists.txt"), `-disposable ${DOMAIN}\n`);
  const { ready } = await whenStarted(folder, [], env);
  const look = async () => {
    const response = await fetch(`${ready.base_url}/v1/listings/${DOMAIN}`);
    return ((await response.json()) as any).data;
  };

  await run("update", write("first.txt", createEdition({ version: FIRST, domains })));
  await eventually(async () => expect((await readHealth(ready)).version).toBe(FIRST));

  expect(await verify(ready)).toMatchObject({ status: "valid", edition: FIRST });
  const answer = await look();
  expect(answer).toMatchObject({ listed: false, allowed_by_operator: true, edition: FIRST });
  expect((await run("show", DOMAIN)).output).toEqual(answer);
  expect((await run("show", "yopmail.com")).output).toMatchObject({ as: "disposable" });
  expect(await run("show")).toMatchObject({ code: 2 });
});

test("admin lists update refuses a wrong file with the reason and keeps the installed lists", async () => {
  const { write, run } = setup();
  await run("update", write("good.txt", createEdition({ version: SECOND, domains })));
  const files = asRows`
  older.txt | ${createEdition({ version: FIRST })} | ${`is ${FIRST}, and ${SECOND} is in use`}
  cut.txt | ${createEdition({ version: `${BUILT_IN}.3` }).subarray(0, 9_999)} | no valid signature
  foreign.txt | ${createEdition({ version: `${BUILT_IN}.3`, privateKey: OTHER_KEYS.privateKey })} | no valid signature
  large.txt | ${Buffer.alloc(30_000_000, "a.example\n")} | over 4000000 bytes
  emptied.txt | ${createEdition({ version: `${BUILT_IN}.3`, domains: { disposable: [] } })} | names of disposable
`;

  for (const [name, content, reason] of files) {
    const { code, err } = await run("update", write(name, content));
    expect([code, err]).toEqual([1, expect.stringContaining(reason)]);
    expect(err).toContain("The lists are unchanged.");
  }

  expect((await run()).output).toMatchObject({ version: SECOND, signature: "valid" });
  expect((await run("rollback")).output.version).toBe(BUILT_IN);
});

test("admin lists update downloads an edition from a URL and reports a URL without one", async () => {
  const { run } = setup();
  const server = createServer(({ url }, response) => {
    response.statusCode = url === "/lists.txt" ? 200 : 404;
    response.end(createEdition({ version: FIRST }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  const absent = await run("update", `http://127.0.0.1:${port}/other.txt`);
  const { output } = await run("update", `http://127.0.0.1:${port}/lists.txt`);

  expect(absent).toMatchObject({ code: 1, err: expect.stringContaining("answered 404") });
  expect(output.version).toBe(FIRST);
});

test("the server keeps and reports a damaged installed file and uses the lists of the release", async () => {
  const { folder, env, write, run } = setup();
  await run("update", write("good.txt", createEdition({ version: FIRST, domains })));
  const installed = join(folder, "lists/current.txt");
  writeFileSync(installed, readFileSync(installed).subarray(0, -100));

  expect(await run()).toMatchObject({
    code: 1,
    output: { version: BUILT_IN, refused: expect.stringContaining("no valid signature") },
  });
  const { ready, readLog } = await whenStarted(folder, [], env);
  expect(await verify(ready)).toMatchObject({ status: "valid", edition: BUILT_IN });
  expect(readLog()).toContainEqual(expect.objectContaining({ event: "lists_refused" }));
});

test("admin lists prints the release's edition when none is installed, and its update requires a file", async () => {
  const { run } = setup();

  expect(await run()).toMatchObject({
    code: 0,
    output: {
      version: BUILT_IN,
      signature: "valid",
      installed: null,
      lists: expect.arrayContaining([
        expect.objectContaining({ list: "broad", entries: SHIPPED.broad.length }),
      ]),
    },
  });
  expect(await run("update")).toMatchObject({ code: 2 });
  expect(await run("update", "/nowhere/lists.txt")).toMatchObject({ code: 2 });
});
