import { createHash } from "node:crypto";
import { closeSync, fdatasync, openSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";

// The floor of a cached call: a server that hashes the key, reads two items, writes five, and answers when they are on the disk.
// Calls that arrive during a flush share the next transaction. The server sends its port to its parent.

const file = process.argv[2] ?? "";
const answer = "x".repeat(Number(process.argv[3]));
const db = new DatabaseSync(file);
db.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE items (key TEXT PRIMARY KEY, item TEXT) WITHOUT ROWID",
);
const read = db.prepare("SELECT item FROM items WHERE key = ?");
const write = db.prepare("INSERT OR REPLACE INTO items VALUES (?, ?)");
const log = openSync(`${file}-wal`, "r");
process.on("disconnect", () => process.exit());
process.on("exit", () => closeSync(log));

type Waiting = { readonly key: string; readonly n: number; readonly response: ServerResponse };
let waiting: Waiting[] = [];
let isFlushing = false;
let calls = 0;

const flush = (): void => {
  const group = waiting;
  waiting = [];
  isFlushing = group.length > 0;
  if (!isFlushing) return;
  db.exec("BEGIN");
  for (const { key, n } of group)
    for (const item of ["balance", "window", `entry ${n}`, `day`, `request ${n}`])
      write.run(`${key} ${item}`, JSON.stringify({ n, at: Date.now(), item }));
  db.exec("COMMIT");
  fdatasync(log, () => {
    for (const { response } of group) response.end(answer);
    setImmediate(flush);
  });
};

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { email } = JSON.parse((await request.toArray()).join("")) as { readonly email: string };
  const key = createHash("sha256").update(String(request.headers["x-api-key"])).digest("hex");
  read.get(`${key} balance`);
  read.get(`${key} ${email}`);
  response.writeHead(200, { "content-type": "application/json" });
  waiting.push({ key, n: calls++, response });
  if (!isFlushing) setImmediate(flush);
  isFlushing = true;
};

const server = createServer((request, response) => void handle(request, response));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
