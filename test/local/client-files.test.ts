import { endpoints } from "@mailproof/api/endpoints";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { createClientFiles } from "@mailproof/local/server/client-files";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { toBytes, toEvent } from "../aws/gateway.ts";
import { whenListening } from "../servers/listening.ts";

const NOT_BUILT = "/docs/clients/not-built.whl";

const open = (files: Readonly<Record<string, string>> | undefined) => {
  const answer = createClientFiles(() => files && JSON.stringify(files));
  return (rawPath: string, method = "GET") => answer({ method, rawPath });
};

test("a client's file is sent as it was built, with its type", () => {
  const bytes = Buffer.from([0, 255, 10, 13]);
  const built = { "a.tgz": bytes.toString("base64"), "go/m/@v/list": "djEK" };
  const get = open(built);

  expect(get("/docs/clients/a.tgz")).toMatchObject({
    statusCode: 200,
    headers: { "content-type": "application/gzip", "x-content-type-options": "nosniff" },
    body: bytes,
  });
  expect(get("/docs/clients/a.tgz", "HEAD")).toMatchObject({ statusCode: 200 });
  expect(get("/docs/clients/go/m/@v/list")?.headers["content-type"]).toMatch(/^text\/plain/);
});

test("the manual's page and other requests are none for a file", () => {
  const get = open({});

  for (const path of ["/docs", "/docs/clients", "/docs/clients/", "/docs/clients.md"])
    expect(get(path)).toBeUndefined();
  expect(get("/docs/clients/a.tgz", "POST")).toBeUndefined();
});

test.each([
  ["none were built", undefined],
  ["only others were built", { "b.tgz": "AA==" }],
])("where %s, the failure says how they are made", (_, files) => {
  for (const name of ["a.tgz", "constructor", "__proto__"])
    expect(() => open(files)(`/docs/clients/${name}`)).toThrow(/scripts\/build\/clients\.ts/);
});

test("clients that are built while the server runs are found", () => {
  let built: string | undefined;
  const answer = createClientFiles(() => built);
  const get = () => answer({ method: "GET", rawPath: "/docs/clients/a.tgz" })?.statusCode;

  expect(get).toThrow("no such file");
  built = JSON.stringify({ "a.tgz": "AA==" });
  expect(get()).toBe(200);
});

test("what was not built is 404 on one machine and on AWS, with the same words", async () => {
  const { port } = await whenListening(...endpoints);
  const { world } = await given();
  const event = toEvent({ method: "GET", url: NOT_BUILT });

  const here = await fetch(`http://127.0.0.1:${port}${NOT_BUILT}`);
  const there = await createFallbackHandler(world)(event, createContext());

  expect([here.status, there.statusCode]).toEqual([404, 404]);
  const message = expect.stringMatching(/npm run build\. On AWS there are none\. Nothing was/);
  expect(await here.json()).toMatchObject({ error: { code: "NOT_FOUND", message } });
  expect(JSON.parse(toBytes(there).toString())).toMatchObject({ error: { message } });
  expect((await fetch(`http://127.0.0.1:${port}/docs/clients`)).status).toBe(200);
});
