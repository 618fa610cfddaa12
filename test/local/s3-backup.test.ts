import { execFileSync } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { readLastBackup } from "@mailproof/local/storage/last-backup";
import { backUpToS3 } from "@mailproof/local/storage/s3-backup";
import { listObjects, type S3Bucket, signRequest } from "@mailproof/local/storage/s3-bucket";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CREDENTIALS, createEmulatedAws, DYNAMODB, REGION } from "../aws/emulators.ts";
import { createBucket } from "../aws/resources.ts";
import { openSignatureProxy } from "../aws/signature-proxy.ts";
import { describeWith } from "../runner/describe-when.ts";
import { createFolder, whenRun } from "../servers/running.ts";

const SECRET = CREDENTIALS.secretAccessKey;

const givenState = async (): Promise<string> => {
  const folder = createFolder();
  createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null).close();
  await whenRun({ MAILPROOF_DIR: folder }, "admin", "accounts", "create", "--name", "A");
  return folder;
};

describeWith(DYNAMODB, "a backup in an S3 store", () => {
  let proxy: Awaited<ReturnType<typeof openSignatureProxy>>;
  beforeAll(async () => {
    proxy = await openSignatureProxy(() => new Date());
  });
  afterAll(() => proxy.close());

  const givenBucket = async () => {
    const aws = await createEmulatedAws();
    const name = await createBucket(aws);
    const s3 = new S3Client({
      region: REGION,
      credentials: CREDENTIALS,
      endpoint: aws.endpoints.s3 ?? "",
      forcePathStyle: true,
    });
    const put = async (key: string) => {
      await s3.send(new PutObjectCommand({ Bucket: name, Key: key, Body: "x" }));
    };
    const list = async () => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: name }));
      return Contents.map(({ Key = "" }) => Key);
    };
    const get = async (key: string) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: name, Key: key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    };
    const settings = {
      AWS_ENDPOINT_URL_S3: proxy.url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: SECRET,
    };
    const backUp = (folder: string, to: string, how: Readonly<Record<string, string>> = {}) => {
      const { keep, ...env } = how;
      const args = ["--to", `s3://${name}${to}`, ...(keep ? ["--keep", keep] : [])];
      return whenRun({ MAILPROOF_DIR: folder, ...settings, ...env }, "admin", "backup", ...args);
    };
    return { name, put, list, get, backUp };
  };

  test("the backup command uploads one object that a server can start from, and leaves no copy on the disk", async () => {
    const { name, list, get, backUp } = await givenBucket();
    const folder = await givenState();
    const before = readdirSync(folder).toSorted();

    const { code, out, err } = await backUp(folder, "/nightly (all)/", {
      AWS_SESSION_TOKEN: "of a role",
    });

    expect({ code, err }).toEqual({ code: 0, err: "" });
    const { object, as_of: at } = JSON.parse(out) as Record<string, string>;
    const [key = ""] = await list();
    expect(object).toBe(`s3://${name}/${key}`);
    expect(key).toMatch(/^nightly \(all\)\/mailproof-[\dTZ-]+\.tar\.gz$/);
    expect(readLastBackup(folder)).toEqual(new Date(at ?? ""));
    expect(readdirSync(folder).toSorted()).toEqual([...before, "last-backup.json"].toSorted());
    const restored = createFolder();
    execFileSync("tar", ["-xzC", restored], { input: await get(key) });
    const audited = await whenRun({ MAILPROOF_DIR: restored }, "admin", "audit");
    expect(JSON.parse(audited.out)).toMatchObject({ ok: true, accounts: 1 });
  });

  test("the backup command --keep removes the oldest backups of its folder and no other object", async () => {
    const { put, list, backUp } = await givenBucket();
    const [first = "", second = ""] = ["01", "02"].map(
      (day) => `mailproof-2026-01-${day}T00-00-00-000Z.tar.gz`,
    );
    const others = [
      `a/${first}.part`,
      `a/deeper/${first}`,
      "a/mailproof-by-hand.tar.gz",
      `ab/${first}`,
      first,
    ];
    for (const key of [`a/${first}`, `a/${second}`, ...others]) await put(key);

    const { code, out } = await backUp(await givenState(), "/a", { keep: "2" });

    expect(code).toBe(0);
    const { object, removed } = JSON.parse(out) as Record<string, string>;
    expect(removed).toEqual([first]);
    const made = `a/${object?.split("/").at(-1)}`;
    expect(await list()).toEqual([made, `a/${second}`, ...others].toSorted());
  });

  test("the backup command prints why the store refuses the key, without the secret, and records no backup", async () => {
    const { list, backUp } = await givenBucket();
    const folder = await givenState();
    const wrong = "another secret of these tests";

    const { code, out, err } = await backUp(folder, "/", { AWS_SECRET_ACCESS_KEY: wrong });

    expect(code).not.toBe(0);
    expect(err).toContain("the store replied 403 SignatureDoesNotMatch");
    expect(out + err).not.toContain(wrong);
    expect(await list()).toEqual([]);
    expect(readLastBackup(folder)).toBeUndefined();
  });
});

const givenStore = async (
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
  pausesMs: readonly number[] = [],
) => {
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    answer(incoming, outgoing);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket`;
  const bucket: S3Bucket = { url, region: REGION, ...CREDENTIALS, pausesMs };
  return { requests, bucket };
};

test("a truncated upload fails, and the backup command removes nothing on either side", async () => {
  const folder = await givenState();
  const { requests, bucket } = await givenStore((incoming) => void incoming.socket.destroy());

  const backup = backUpToS3(folder, { bucket, prefix: "a/" }, 1);

  await expect(backup).rejects.toThrow("socket hang up");
  expect(requests).toEqual([expect.stringMatching(/^PUT \/bucket\/a\/mailproof-/)]);
  expect(readdirSync(folder).filter((name) => name.startsWith("upload-"))).toEqual([]);
});

test("the next backup removes the remains of a killed one that are a day old", async () => {
  const folder = await givenState();
  const { bucket } = await givenStore((incoming, outgoing) => {
    incoming.resume().on("end", () => outgoing.end());
  });
  for (const name of ["upload-old", "upload-new"])
    mkdirSync(join(folder, name, "state"), { recursive: true });
  utimesSync(join(folder, "upload-old"), 0, 0);

  await backUpToS3(folder, { bucket, prefix: "" }, undefined);

  expect(readdirSync(folder).filter((name) => name.startsWith("upload-"))).toEqual(["upload-new"]);
  rmSync(join(folder, "upload-new"), { recursive: true });
});

test("the backup command asks a store again after a temporary failure and reads a long list to its end", async () => {
  const key = (n: number) => `<Contents><Key>a/mailproof-${n}</Key></Contents>`;
  const pages = ["", `${key(1)}<NextContinuationToken>t+/=</NextContinuationToken>`, key(2)];
  const { requests, bucket } = await givenStore(
    (_, outgoing) => {
      const page = pages.shift();
      outgoing
        .writeHead(page === "" ? 503 : 200)
        .end(`<ListBucketResult>${page}</ListBucketResult>`);
    },
    [0],
  );

  expect(await listObjects(bucket, "a/")).toEqual(["mailproof-1", "mailproof-2"]);
  expect(requests.at(-1)).toContain("continuation-token=t%2B%2F%3D&delimiter=%2F");
});

test("a list of objects without an end fails after a thousand pages", async () => {
  const { requests, bucket } = await givenStore((_, outgoing) => {
    outgoing.end("<NextContinuationToken>again</NextContinuationToken>");
  });

  await expect(listObjects(bucket, "a/")).rejects.toThrow("does not end");
  expect(requests).toHaveLength(1_000);
});

test.each([
  [["--to", "s3://bucket/a"], {}, "Set AWS_ACCESS_KEY_ID"],
  [["--to", "s3://"], {}, "must be like s3://bucket/folder"],
  [["--to", "s3://Bad_Bucket/a"], {}, "must be like s3://bucket/folder"],
  [["--to", "s3://bucket"], { AWS_ENDPOINT_URL_S3: "s3.example.com" }, "must be a URL"],
  [["--to", "s3://bucket"], { AWS_ENDPOINT_URL_S3: "http://s3.example.com" }, "must be a URL"],
])(
  "the backup command %j with %j exits as a usage error before it copies anything",
  async (args, env, message) => {
    const keys = "AWS_ENDPOINT_URL_S3" in env && {
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
    };
    const settings = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", ...keys, ...env };
    const { code, err } = await whenRun(
      { MAILPROOF_DIR: await givenState(), ...settings },
      "admin",
      "backup",
      ...args,
    );

    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  },
);

const KEY = "nightly (all)/ä+~*'!/mailproof-1.tar.gz";

test("our S3 request carries the same address and signature as one by AWS's own client", async () => {
  const sent: { path: string; query: Record<string, string> }[] = [];
  const requestHandler = {
    handle: async (request: (typeof sent)[number]) => {
      sent.push(request);
      return { response: { statusCode: 204, headers: {}, body: Readable.from([]) } };
    },
  };
  const credentials = { ...CREDENTIALS, sessionToken: "of/a+role==" };
  const endpoint = "https://s3.example.com";
  const options = { region: REGION, credentials, endpoint, forcePathStyle: true };
  const s3 = new S3Client({ ...options, requestHandler: requestHandler as never });
  await s3.send(new DeleteObjectCommand({ Bucket: "bucket", Key: KEY }));
  const at = new Date("2026-11-21T10:00:00.000Z");
  const signer = new SignatureV4({
    service: "s3",
    region: REGION,
    credentials,
    sha256: Sha256 as never,
    uriEscapePath: false,
  });
  const query = { prefix: "a b/c", delimiter: "/", "list-type": "2" };
  const theirs = await signer.sign(
    {
      method: "GET",
      protocol: "https:",
      hostname: "s3.example.com",
      path: sent[0]?.path ?? "",
      query,
      headers: { host: "s3.example.com", "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
    },
    { signingDate: at },
  );

  const bucket = { url: `${endpoint}/bucket`, region: REGION, ...credentials, pausesMs: [] };
  const ours = signRequest(bucket, { method: "GET", key: KEY, query }, at);

  expect(new URL(ours.url).pathname).toBe(sent[0]?.path);
  expect(ours.headers).toEqual(theirs.headers);
});

/** The hash that the signer requires, instead of a class; with a secret an HMAC. */
function Sha256(secret?: Uint8Array) {
  const hash = secret ? createHmac("sha256", secret) : createHash("sha256");
  return {
    update: (bytes: Uint8Array) => void hash.update(bytes),
    digest: async () => hash.digest(),
  };
}
