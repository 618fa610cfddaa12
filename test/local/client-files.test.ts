import { createHash } from "node:crypto";
import { endpoints } from "@mailproof/api/endpoints";
import { createClientFiles } from "@mailproof/api/http/client-files";
import { packClients } from "@mailproof/docs-site/clients/archives";
import { clientsAt, GO_MODULE, GO_VERSION } from "@mailproof/docs-site/clients/programs";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { expect, test } from "vitest";
import { toBytes, toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { whenListening } from "../servers/listening.ts";

const open = (archives: Readonly<Record<string, string>>) => {
  const answer = createClientFiles(async () => archives);
  return (rawPath: string, method = "GET") => answer({ method, rawPath });
};

test("the server sends a client's file with its type", async () => {
  const bytes = Buffer.from([0, 255, 10, 13]);
  const get = open({ "a.tgz": bytes.toString("base64"), "go/m/@v/list": "djEK" });

  expect(await get("/docs/clients/a.tgz")).toMatchObject({
    statusCode: 200,
    headers: { "content-type": "application/gzip", "x-content-type-options": "nosniff" },
    body: bytes,
  });
  expect(await get("/docs/clients/a.tgz", "HEAD")).toMatchObject({ statusCode: 200 });
  expect((await get("/docs/clients/go/m/@v/list"))?.headers["content-type"]).toMatch(
    /^text\/plain/,
  );
});

test("the server opens no client's file for the manual's page or a POST", () => {
  const get = open({});

  for (const path of ["/docs", "/docs/clients", "/docs/clients/", "/docs/clients.md"])
    expect(get(path)).toBeUndefined();
  expect(get("/docs/clients/a.tgz", "POST")).toBeUndefined();
});

/** The files that the install lines of the page fetch; go asks for them by its proxy protocol. */
const listPrintedPaths = (): readonly string[] => {
  const lines = clientsAt("http://here").map(({ install }) => install);
  const urls = lines.flatMap((line) => line.match(/(?<=http:\/\/here)\S+\.(?:tgz|whl)/g) ?? []);
  const module = `/docs/clients/go/${GO_MODULE}/@v/${GO_VERSION}`;
  return [...urls, ...["info", "mod", "zip"].map((ending) => `${module}.${ending}`)];
};

/** The same path from the server on one machine and from the Lambda of the documents. */
const getBoth = async (path: string) => {
  const { port } = await whenListening(...endpoints);
  const { world } = await given();
  const here = await fetch(`http://127.0.0.1:${port}${path}`);
  const result = await createFallbackHandler(world)(
    toEvent({ method: "GET", url: path }),
    createContext(),
  );
  return {
    statuses: [here.status, result.statusCode],
    here: Buffer.from(await here.arrayBuffer()),
    there: toBytes(result),
  };
};

test.each(listPrintedPaths())("both runtimes serve %s, which the page prints", async (path) => {
  const { statuses, here, there } = await getBoth(path);

  expect(statuses).toEqual([200, 200]);
  expect(here.length).toBeGreaterThan(10);
  expect(there.equals(here)).toBe(true);
});

test.each(["none.whl", "constructor", "__proto__"])(
  "both runtimes answer 404 for %s",
  async (name) => {
    const { statuses, here, there } = await getBoth(`/docs/clients/${name}`);

    expect(statuses).toEqual([404, 404]);
    const error = { code: "NOT_FOUND", message: expect.stringContaining("lists the clients") };
    expect(JSON.parse(here.toString())).toMatchObject({ error });
    expect(JSON.parse(there.toString())).toMatchObject({ error });
  },
);

test("packing the clients writes equal bytes each time, so their checksums stay valid", async () => {
  const hash = async () =>
    Object.values(await packClients()).map((bytes) =>
      createHash("sha256").update(bytes).digest("hex"),
    );

  expect(await hash()).toEqual(await hash());
});
