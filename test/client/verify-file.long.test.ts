import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { FileSource } from "@mailproof/client/file-source";
import type { FileProgress } from "@mailproof/client/verify-file";
import { expect, test } from "vitest";
import { serveAccounts } from "../servers/proxied-server.ts";
import { createFolder } from "../servers/running.ts";
import { createDataResponse, whenAnswered } from "./fake-fetch.ts";

const whenServed = serveAccounts();

const LIST = "Name;E-Mail\r\nAda;ann@example.com\r\nNobody;invalid@example.com\r\nNone;none\r\n";

const givenFile = (): string => {
  const file = join(createFolder(), "Ünsere Liste.csv");
  writeFileSync(file, LIST);
  return file;
};

async function* inPieces(): AsyncGenerator<string> {
  for (const letter of LIST) yield letter;
}

test("verifyFile accepts every kind of source and returns the file's own columns", async () => {
  const { clientWith, testKey } = await whenServed();
  const client = clientWith({ key: testKey });
  const file = givenFile();
  const sources: Readonly<Record<string, FileSource>> = {
    path: file,
    File: new File([LIST], "a.csv", { type: "text/csv" }),
    Blob: new Blob([LIST], { type: "text/csv" }),
    ReadableStream: new Blob([LIST]).stream(),
    AsyncIterable: inPieces(),
    "Node's stream": Readable.from([Buffer.from(LIST)]),
  };
  const response: Record<string, unknown> = {};
  for (const [kind, source] of Object.entries(sources)) {
    const done = await client.verifyFile(source, { email_column: "E-Mail" });
    const statuses = await Array.fromAsync(done.results(), ({ status }) => status);
    const text = await (await done.download()).text();
    response[kind] = [
      done.job.status,
      done.accepted.invalid_emails_skipped,
      statuses,
      text.slice(0, 27),
    ];
  }

  const same = ["completed", 1, ["valid", "invalid"], "Name;E-Mail;email;status;se"];
  expect(response).toEqual(Object.fromEntries(Object.keys(sources).map((kind) => [kind, same])));
});

test("verifyFile reports progress, and its download is a filtered stream with a file name", async () => {
  const { clientWith, testKey } = await whenServed();
  const stages: FileProgress[] = [];

  const done = await clientWith({ key: testKey }).verifyFile(
    givenFile(),
    { name: "Ünsere Liste" },
    { idempotencyKey: "once", onProgress: (progress) => stages.push(progress) },
  );
  const { fileName, stream } = await done.download({ filter: "valid" });
  const text = await new Response(stream).text();

  expect([...new Set(stages.map(({ stage }) => stage))]).toEqual([
    "uploading",
    "uploaded",
    "accepted",
    "verifying",
  ]);
  expect(stages[0]).toEqual({ stage: "uploading", bytes: Buffer.byteLength(LIST) });
  expect(stages[1]).toMatchObject({ idempotencyKey: "once", file_key: expect.any(String) });
  expect(stages.at(-1)).toMatchObject({ job: { progress: { total: 2, processed: 2 } } });
  expect(fileName).toBe("Ünsere Liste-valid.csv");
  expect(text.trim().split("\r\n")).toHaveLength(2);
});

test("a caller of verifyFile that stops waiting leaves the job running and can wait for it again", async () => {
  const { clientWith, testKey } = await whenServed();
  const client = clientWith({ key: testKey });
  const leaving = new AbortController();
  const seen: string[] = [];
  const onProgress = (progress: FileProgress) => {
    if (progress.stage !== "accepted") return;
    seen.push(progress.accepted.job_id);
    leaving.abort();
  };

  const wait = { signal: leaving.signal, onProgress };
  const error = await client.verifyFile(givenFile(), {}, wait).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({
    code: "ABORTED",
    money: "kept",
    retryable: false,
    details: { job_id: seen[0] },
  });
  expect((await client.waitForJob({ id: seen[0] ?? "" })).status).toBe("completed");
});

test("verifyFile repeats a refused upload, then reports it and processes nothing", async () => {
  const link = createDataResponse({ upload_url: "https://files.example.com/x", file_key: "k" });
  const denied = () => new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
  const { client, sent } = whenAnswered([link, denied(), denied()], { retries: 1 });

  const call = client.verifyFile(new Blob([LIST], { type: "text/csv" }));

  await expect(call).rejects.toMatchObject({ code: "UNREADABLE", money: "nothing_charged" });
  expect(sent.map(({ init }) => init.method)).toEqual(["POST", "PUT", "PUT"]);
  expect(new Request("https://x.example", sent[1]?.init).headers.get("content-type")).toBeNull();
});

test("verifyFile does not read a stream to its end when it exceeds the service's limit", async () => {
  let pieces = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      pieces++;
      yield new Uint8Array(10_000_000);
    }
  }
  const { client, sent } = whenAnswered([]);

  await expect(client.verifyFile(endless())).rejects.toThrow("more than 52428800 bytes");
  expect({ pieces, sent }).toEqual({ pieces: 6, sent: [] });
});

test("verifyFile's file source imports nothing, so that bundles for browsers work", () => {
  const source = readFileSync("packages/client/src/file-source.ts", "utf8");

  expect(source).not.toMatch(/import\s*\(|from "node:/);
});
