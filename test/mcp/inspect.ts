// The conformance suite and the inspector of MCP, against a server that runs here: npx node test/mcp/inspect.ts
//
// Both come by npx and are not dependencies of ours. The suite knows no credentials, so it goes through a proxy that adds
// the test key. It is asked for all that a revision of MCP requires of a server, by the suite's own list. Many of its
// scenarios want what is optional, or tools of a sample server: left-out.yml names them, and why.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { withServer } from "../servers/npm-start.ts";

// The first that knows revisions by their requirements; what is called latest knows nothing of the newer protocol.
const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const REVISIONS = ["2025-11-25", "2026-07-28"];
const EXPECTED_FAILURES = join(import.meta.dirname, "left-out.yml");
/** The command that docs/mcp.md prints, as a shell would read it. */
const [, PRINTED = ""] =
  /^npx --yes (@modelcontextprotocol\/inspector.*)$/m.exec(
    readFileSync(join(import.meta.dirname, "../../docs/mcp.md"), "utf8"),
  ) ?? [];
const CALLS = [
  ["--method", "tools/list"],
  ["--method", "tools/call", "--tool-name", "get_account"],
  ["--method", "tools/call", "--tool-name", "verify_email", "--tool-arg", "email=ann@example.com"],
];

const failed: string[] = [];
await withServer(async ({ mcp_url: mcpUrl, test_key: key }) => {
  const { hostname, port, pathname } = new URL(mcpUrl);
  const authorization = `Bearer ${key}`;
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const to = { host: hostname, port, path: url, method, headers: { ...headers, authorization } };
    const proxied = request(to, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(proxied);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${pathname}`;
  for (const revision of REVISIONS) {
    const options = ["--requirements", revision, "--expected-failures", EXPECTED_FAILURES];
    await check(`what ${revision} requires`, [SUITE, "server", "--url", url, ...options]);
  }
  const printed = parsePrintedCommand(mcpUrl, key);
  for (const call of CALLS) await check(call.slice(1).join(" "), [...printed, ...call]);
  proxy.close();
});
process.exitCode = failed.length > 0 ? 1 : 0;

/** Without its method, and with the server's address and key. */
function parsePrintedCommand(mcpUrl: string, key: string): readonly string[] {
  const command = PRINTED.replace("<mcp_url>", mcpUrl).replace("<the key>", key);
  const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
  return words.slice(0, words.indexOf("--method"));
}

// In its own folder: the suite writes its results where it stands. By the Node that runs this: the suite needs a
// newer one than what a machine may have in its path.
async function check(what: string, args: readonly string[]): Promise<void> {
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = spawn("npx", ["--yes", ...args], {
    cwd: tmpdir(),
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece) => (output += piece));
  const [code] = (await once(child, "exit")) as [number | null];
  const isError = code !== 0 || /"isError": true/.test(output);
  console.log(isError ? "failed" : "passed", what);
  if (!isError) return;
  console.log(output);
  failed.push(what);
}
