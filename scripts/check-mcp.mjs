// The conformance suite and the inspector of MCP, against a server that runs here: npm start, and in another terminal
// node scripts/check-mcp.mjs
//
// Both come by npx and are no dependency of ours. The suite knows no credentials, so it goes through a door that adds
// the test key. Most of its scenarios call tools of a sample server, such as test_simple_text; these are the others.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SUITE = "@modelcontextprotocol/conformance@0.1.16";
const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];
const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const CALLS = [
  ["--method", "tools/list"],
  ["--method", "tools/call", "--tool-name", "get_account"],
  ["--method", "tools/call", "--tool-name", "verify_email", "--tool-arg", "email=ann@example.com"],
];

const folder = process.env.MAILPROOF_DIR ?? ".local";
const ready = JSON.parse(readFileSync(join(folder, "ready.json"), "utf8"));
const { hostname, port, pathname } = new URL(ready.mcp_url);
const authorization = `Bearer ${ready.test_key}`;

const door = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const to = { host: hostname, port, path: url, method, headers: { ...headers, authorization } };
  const passedOn = request(to, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(passedOn);
}).listen(0, "127.0.0.1");
await once(door, "listening");
const url = `http://127.0.0.1:${door.address().port}${pathname}`;

const failed = [];
for (const scenario of SCENARIOS)
  await check(scenario, [SUITE, "server", "--url", url, "--scenario", scenario]);
for (const call of CALLS) {
  const header = ["--header", `Authorization: ${authorization}`];
  await check(call.slice(1).join(" "), [
    INSPECTOR,
    "--cli",
    ready.mcp_url,
    "--transport",
    "http",
    ...header,
    ...call,
  ]);
}
door.close();
process.exitCode = failed.length > 0 ? 1 : 0;

// In a folder of its own: the suite writes its results where it stands.
async function check(what, args) {
  const child = spawn("npx", ["--yes", ...args], {
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  const [code] = await once(child, "exit");
  const isError = code !== 0 || /"isError": true/.test(said);
  console.log(isError ? "failed" : "passed", what);
  if (!isError) return;
  console.log(said);
  failed.push(what);
}
