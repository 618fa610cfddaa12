import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, whenStarted } from "../local/running.ts";
import { residentMegabytes } from "./slow-clients.ts";

// Goal: what callers make the server hold in memory is bounded in bytes, and not only in requests.
// Method: uploads that hold back their last bytes, on a process of its own.

const UPLOADS = 40;
const FILE_BYTES = 19_900_000;
/** All of them would be 800. What is refused is read and dropped, which a busy machine collects later. */
const GROWTH_MEGABYTES = 250;
/** 60 MB of an account. */
const HELD = 3;
const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="r.xml"\r\n\r\n';
const TAIL = "\r\n--b--\r\n";

/** Sends all of a form but its end. */
const holdBack = (port: number, key: string, onStatus: (status: string) => void): void => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.on("data", (bytes) => onStatus(bytes.toString("latin1", 9, 12)));
  const length = HEAD.length + FILE_BYTES + TAIL.length;
  socket.write(
    `POST /v1/deliverability/reports HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n${HEAD}`,
  );
  const piece = Buffer.alloc(100_000, " ");
  let left = FILE_BYTES;
  const send = (): void => {
    let mayGoOn = true;
    for (; left > 0 && mayGoOn; left -= piece.length) mayGoOn = socket.write(piece);
  };
  socket.on("drain", send);
  send();
};

test("uploads that hold back their last bytes are refused by their declared length, and others are served", async () => {
  const { ready, pid } = await whenStarted(createFolder());
  const { base_url: url, live_key: key, test_key: testKey } = ready;
  const verify = async () => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const body = JSON.stringify({ email: "ann@example.com" });
    return (await fetch(`${url}/v1/verify`, { method: "POST", headers, body })).status;
  };
  await verify();
  const before = residentMegabytes(pid);

  const answers: string[] = [];
  for (let n = 0; n < UPLOADS; n++)
    holdBack(Number(new URL(url).port), testKey, (status) => answers.push(status));
  while (answers.length < UPLOADS - HELD) await setTimeout(10);

  expect(new Set(answers)).toEqual(new Set(["429"]));
  expect(await verify()).toBe(200);
  expect(residentMegabytes(pid) - before).toBeLessThan(GROWTH_MEGABYTES);
});
