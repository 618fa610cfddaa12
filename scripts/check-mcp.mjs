// The conformance suite and the inspector of MCP, against a server that runs here: npm start, and in another terminal
// npm run test:mcp
//
// Both come by npx and are no dependency of ours. The suite knows no credentials, so it goes through a proxy that adds
// the test key. It is asked for all that a revision of MCP requires of a server, by the suite's own list. Many of its
// scenarios want what is optional, or tools of a sample server: mcp-left-out.yml names them, and why.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

// The first that knows revisions by their requirements; what is called latest knows nothing of the newer protocol.
const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const REVISIONS = ["2025-11-25", "2026-07-28"];
const EXPECTED_FAILURES = join(import.meta.dirname, "mcp-left-out.yml");
/** The command that docs/mcp.md prints, as a shell would read it. */
const PRINTED = /^npx --yes (@modelcontextprotocol\/inspector.*)$/m.exec(
  readFileSync(join(import.meta.dirname, "../docs/mcp.md"), "utf8"),
)[1];
const CALLS = [
  ["--method", "tools/list"],
  ["--method", "tools/call", "--tool-name", "get_account"],
  ["--method", "tools/call", "--tool-name", "verify_email", "--tool-arg", "email=ann@example.com"],
];

const folder = process.env.MAILPROOF_DIR ?? ".local";
const ready = JSON.parse(readFileSync(join(folder, "ready.json"), "utf8"));
const { hostname, port, pathname } = new URL(ready.mcp_url);
const authorization = `Bearer ${ready.test_key}`;

const proxy = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const to = { host: hostname, port, path: url, method, headers: { ...headers, authorization } };
  const proxied = request(to, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(proxied);
}).listen(0, "127.0.0.1");
await once(proxy, "listening");
const url = `http://127.0.0.1:${proxy.address().port}${pathname}`;

const failed = [];
for (const revision of REVISIONS) {
  const options = ["--requirements", revision, "--expected-failures", EXPECTED_FAILURES];
  await check(`what ${revision} requires`, [SUITE, "server", "--url", url, ...options]);
}
for (const call of CALLS) {
  await check(call.slice(1).join(" "), [...parsePrintedCommand(), ...call]);
}
proxy.close();
process.exitCode = failed.length > 0 ? 1 : 0;

/** Without its method, and with the server's address and key. */
function parsePrintedCommand() {
  const command = PRINTED.replace("<mcp_url>", ready.mcp_url).replace("<the key>", ready.test_key);
  const words = command.match(/"[^"]*"|\S+/g).map((word) => word.replaceAll('"', ""));
  return words.slice(0, words.indexOf("--method"));
}

// In a folder of its own: the suite writes its results where it stands. By the Node that runs this: the suite needs a
// newer one than what a machine may have in its path.
async function check(what, args) {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const child = spawn("npx", ["--yes", ...args], {
    cwd: tmpdir(),
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece) => (output += piece));
  const [code] = await once(child, "exit");
  const isError = code !== 0 || /"isError": true/.test(output);
  console.log(isError ? "failed" : "passed", what);
  if (!isError) return;
  console.log(output);
  failed.push(what);
}
