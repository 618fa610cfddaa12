import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Blobs } from "@mailproof/core/ports/blobs";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createApiServer } from "@mailproof/local/server/server";
import { createBlobLinks } from "@mailproof/local/storage/blob-links";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import { chromium } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { CREDENTIALS, createEmulatedAws, DYNAMODB, REGION } from "../aws/emulators.ts";
import { createBucket } from "../aws/resources.ts";
import { openSignatureProxy } from "../aws/signature-proxy.ts";
import { describeUnless, describeWith } from "../runner/describe-when.ts";

// What a customer does with a link, by the programs that customers have. None of this code is ours but the links.

const KEY = "uploads/live/acc_1/upl_1.csv";
const LIST = "email\nann@example.com\nbo@example.com\n";
const PUT = { expiresInSeconds: 900, bytesMax: 1_000 };
const EXACT = { ...PUT, bytes: LIST.length };
const GET = { expiresInSeconds: 900, fileName: "list.csv", contentType: "text/csv" };

const folder = mkdtempSync(join(tmpdir(), "mailproof-links-"));
const file = join(folder, "customers.csv");
const longer = join(folder, "longer.csv");
const far = join(folder, "far-too-long.csv");
writeFileSync(file, LIST);
writeFileSync(longer, `${LIST}cy@example.com\n`);
writeFileSync(far, "x".repeat(1_001));
afterAll(() => rmSync(folder, { recursive: true }));

const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));

type Store = { readonly blobs: Blobs };

const openMachine = async (): Promise<Store> => {
  const { world } = givenWorld();
  const links = { baseUrl: "" };
  const { sign, open } = createBlobLinks({
    secret: "a secret for tests",
    baseUrl: () => links.baseUrl,
    now: world.now,
  });
  const blobs = createFileBlobs(mkdtempSync(join(folder, "blobs-")), sign);
  links.baseUrl = await listen(createApiServer({ ...world, blobs }, open));
  return { blobs };
};

const openS3 = async () => {
  const proxy = await openSignatureProxy(() => new Date());
  closing.push(proxy.close);
  const aws = await createEmulatedAws({ endpoints: { s3: proxy.url } });
  const bucket = await createBucket(await createEmulatedAws());
  return { blobs: createS3Blobs(aws, bucket), bucket, url: proxy.url };
};

const listen = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const run = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { timeout: 60_000 })).stdout.trim();

const has = (program: string, ...args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const whyNot = (isThere: boolean, what: string): string | null =>
  isThere ? null : `there is no ${what}`;

/** How a customer uploads a file, and downloads one: the status, and what was downloaded. */
type Program = {
  readonly missing: string | null;
  readonly put: (url: string, path: string) => Promise<string>;
  readonly get: (url: string) => Promise<string>;
};

const python = (script: string, ...args: readonly string[]) =>
  run("python3", "-c", script, ...args);

const PROGRAMS: Readonly<Record<string, Program>> = {
  "curl -T": {
    missing: whyNot(has("curl", "--version"), "curl"),
    put: (url, path) =>
      run("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-T", path, url),
    get: (url) => run("curl", "-sS", url),
  },
  "curl --data-binary": {
    missing: whyNot(has("curl", "--version"), "curl"),
    put: (url, path) =>
      run(
        "curl",
        "-sS",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        "-X",
        "PUT",
        "--data-binary",
        `@${path}`,
        url,
      ),
    get: (url) => run("curl", "-sS", "--compressed", url),
  },
  "Python's urllib": {
    missing: whyNot(has("python3", "--version"), "python3"),
    put: (url, path) => python(URLLIB_PUT, url, path),
    get: (url) =>
      python("import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())", url),
  },
  "Python's requests": {
    missing: whyNot(has("python3", "-c", "import requests"), "Python package requests"),
    put: (url, path) =>
      python(
        "import sys, requests; print(requests.put(sys.argv[1], data=open(sys.argv[2], 'rb')).status_code)",
        url,
        path,
      ),
    get: (url) => python("import sys, requests; print(requests.get(sys.argv[1]).text)", url),
  },
  "Node's fetch": {
    missing: null,
    put: async (url, path) => {
      const { openAsBlob } = await import("node:fs");
      return String((await fetch(url, { method: "PUT", body: await openAsBlob(path) })).status);
    },
    get: async (url) => (await fetch(url)).text(),
  },
};

const URLLIB_PUT = `
import sys, urllib.request as u, urllib.error as e
try:
    print(u.urlopen(u.Request(sys.argv[1], data=open(sys.argv[2], "rb").read(), method="PUT")).status)
except e.HTTPError as refusal:
    print(refusal.code)`;

const STORES: readonly (readonly [where: string, open: () => Promise<Store>])[] = [
  ["on one machine", openMachine],
  ["on S3", openS3],
];

describeWith(DYNAMODB, "links in other programs", () => {
  for (const [where, open] of STORES)
    for (const [name, { missing, put, get }] of Object.entries(PROGRAMS))
      describeUnless(missing, `${where}, with ${name}`, () => {
        test("a program uploads and downloads a list unchanged", async () => {
          const { blobs } = await open();

          expect(await put((await blobs.presignPut(KEY, EXACT)).url, file)).toBe("200");
          expect((await get((await blobs.presignGet(KEY, GET)).url)).trim()).toBe(LIST.trim());
        });

        test("a program uploads a list of undeclared size", async () => {
          const { blobs } = await open();

          expect(await put((await blobs.presignPut(KEY, PUT)).url, file)).toBe("200");
          expect(await blobs.head(KEY)).toMatchObject({ bytes: LIST.length });
        });

        test("the store refuses a file of another size than declared and keeps nothing", async () => {
          const { blobs } = await open();
          const { url } = await blobs.presignPut(KEY, EXACT);

          expect(await put(url, longer)).toBe("403");
          expect(await blobs.head(KEY)).toBeUndefined();
        });
      });
});

/** AWS's own signer for Python, which the AWS CLI uses, signs the same request: the signature must be ours. */
const BOTOCORE_SIGNS = `
import json, sys
from urllib.parse import urlsplit, urlunsplit, parse_qsl, quote
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
url, method, headers, key, secret, region = sys.argv[1:7]
parts = urlsplit(url)
query = [(n, v) for n, v in parse_qsl(parts.query, keep_blank_values=True)]
theirs = dict(query)["X-Amz-Signature"]
kept = "&".join(f"{quote(n, safe='-_.~')}={quote(v, safe='-_.~')}" for n, v in query if n != "X-Amz-Signature")
request = AWSRequest(method=method, url=urlunsplit(parts._replace(query=kept)), headers=json.loads(headers))
request.context["timestamp"] = dict(query)["X-Amz-Date"]
auth = S3SigV4QueryAuth(Credentials(key, secret), "s3", region)
canonical = auth.canonical_request(request)
print(json.dumps([auth.signature(auth.string_to_sign(request, canonical), request), theirs]))`;

describeUnless(
  whyNot(has("python3", "-c", "import botocore"), "Python package botocore"),
  "links compared with those of AWS's other tools",
  () => {
    test.each([
      ["an upload of any size", PUT, {}],
      ["an upload of one size", EXACT, { "content-length": String(LIST.length) }],
    ])("botocore signs %s as our adapter does", async (_case, options, headers) => {
      const { blobs } = await openS3();
      const { url } = await blobs.presignPut(KEY, options);

      const { accessKeyId, secretAccessKey } = CREDENTIALS;
      const [signature, ours] = JSON.parse(
        await python(
          BOTOCORE_SIGNS,
          url,
          "PUT",
          JSON.stringify(headers),
          accessKeyId,
          secretAccessKey,
          REGION,
        ),
      );

      expect(signature).toMatch(/^[0-9a-f]{64}$/);
      expect(ours).toBe(signature);
    });
  },
);

describeUnless(
  whyNot(has("aws", "--version"), "AWS CLI"),
  "links compared with those of the AWS CLI",
  () => {
    test("the AWS CLI's link downloads a file that our link uploaded", async () => {
      const { blobs, bucket, url } = await openS3();
      await fetch((await blobs.presignPut(KEY, EXACT)).url, { method: "PUT", body: LIST });
      const env = {
        PATH: process.env["PATH"],
        HOME: folder,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
        AWS_DEFAULT_REGION: REGION,
      };

      const args = ["--endpoint-url", url, "s3", "presign", `s3://${bucket}/${KEY}`];
      const { stdout } = await promisify(execFile)("aws", args, { env });

      expect(await (await fetch(stdout.trim())).text()).toBe(LIST);
    });
  },
);

describeWith(DYNAMODB, "a browser's preflight for a link", () => {
  test.each(STORES)("the blob store answers the preflight %s", async (_where, open) => {
    const { blobs } = await open();
    const { url } = await blobs.presignPut(KEY, EXACT);
    const origin = "https://shop.example";
    const ask = (method: string) =>
      fetch(url, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": method,
          "access-control-request-headers": "content-type",
        },
      });

    const answers = [await ask("PUT"), await ask("GET")];
    const sent = await fetch(url, { method: "PUT", body: LIST, headers: { origin } });

    for (const { ok, headers } of answers) {
      expect(ok).toBe(true);
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-methods")).toMatch(/GET.*PUT/);
      expect(headers.get("access-control-allow-headers")).toContain("content-type");
    }
    expect(sent.status).toBe(200);
    expect(sent.headers.get("access-control-allow-origin")).toBe("*");
    expect(sent.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("etag");
  });
});

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => existsSync(path),
);

describeUnless(
  CHROMIUM === undefined ? "there is no Chromium; apt-get install chromium" : null,
  "links in a page of another origin",
  () => {
    test.each(STORES)("a browser uploads and downloads a list %s", async (_where, open) => {
      const { blobs } = await open();
      const [put, get] = [await blobs.presignPut(KEY, EXACT), await blobs.presignGet(KEY, GET)];
      const page = await listen(
        createServer((_incoming, answer) => void answer.end("<html></html>")),
      );
      const browser = await chromium.launch({
        executablePath: CHROMIUM ?? "",
        args: ["--no-sandbox"],
      });
      closing.push(() => void browser.close());
      const tab = await browser.newPage();
      await tab.goto(page);

      const seen = await tab.evaluate(`(async () => {
        const body = new File([${JSON.stringify(LIST)}], "list.csv", { type: "text/csv" });
        const sent = await fetch(${JSON.stringify(put.url)}, { method: "PUT", body });
        const read = await fetch(${JSON.stringify(get.url)});
        return [sent.status, sent.headers.get("etag") !== null, await read.text()];
      })()`);

      expect(seen).toEqual([200, true, LIST]);
    });
  },
);
