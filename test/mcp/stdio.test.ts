import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { endpoints } from "@mailproof/api/endpoints";
import { expect, test } from "vitest";
import { endWithTest } from "../runner/eventually.ts";
import { whenListening } from "../servers/listening.ts";
import { MAILPROOF } from "../servers/package.ts";
import { PRELOADED } from "../servers/running.ts";

// `mailproof mcp`, as a client starts it: a message is a line.

const INITIALIZE = {
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
};

type Answer = { readonly id: number; readonly result?: any; readonly error?: any };

const whenStarted = (url: string, key: string, ...args: readonly string[]) => {
  const child = spawn(process.execPath, [...PRELOADED, ...MAILPROOF, "mcp", ...args], {
    env: { PATH: process.env["PATH"] ?? "", MAILPROOF_API: url, MAILPROOF_KEY: key },
    stdio: ["pipe", "pipe", "inherit"],
  });
  endWithTest(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const write = (text: string) => void child.stdin.write(`${text}\n`);
  const read = async (): Promise<Answer> =>
    JSON.parse((await lines.next()).value as string) as Answer;
  const send = async (message: object): Promise<Answer> => {
    write(JSON.stringify({ jsonrpc: "2.0", id: ++id, ...message }));
    return read();
  };
  const notify = (method: string) => write(JSON.stringify({ jsonrpc: "2.0", method }));
  const end = async () => {
    child.stdin.end();
    return new Promise<number | null>((resolve) => child.on("exit", resolve));
  };
  return { send, notify, write, read, end };
};

test("an agent initializes mailproof mcp, finds the usual tools and calls one with the command's key", async () => {
  const { port, testKey } = await whenListening(...endpoints);
  const { send, notify, end } = whenStarted(`http://127.0.0.1:${port}`, testKey);

  const { result } = await send(INITIALIZE);
  notify("notifications/initialized");
  const listed = await send({ method: "tools/list" });
  const called = await send({
    method: "tools/call",
    params: { name: "verify_email", arguments: { email: "invalid@example.com" } },
  });

  expect(result).toMatchObject({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {} },
    serverInfo: { name: "mailproof" },
  });
  const names = (listed.result.tools as { name: string }[]).map(({ name }) => name);
  expect(names).toContain("verify_email");
  expect(names).not.toContain("create_webhook");
  expect(called.result.structuredContent).toMatchObject({ status: "invalid" });
  expect(await end()).toBe(0);
});

test("mailproof mcp --all-tools lists every tool with a title", async () => {
  const { port, testKey } = await whenListening(...endpoints);
  const { send } = whenStarted(`http://127.0.0.1:${port}`, testKey, "--all-tools");

  await send(INITIALIZE);
  const { tools } = (await send({ method: "tools/list" })).result as {
    tools: { name: string; title?: string }[];
  };

  expect(tools.map(({ name }) => name)).toContain("create_webhook");
  expect(tools.filter(({ title }) => !title)).toEqual([]);
});

test("the prompt of mailproof mcp cleans a list with the tools and requires the list first", async () => {
  const { port, testKey } = await whenListening(...endpoints);
  const { send } = whenStarted(`http://127.0.0.1:${port}`, testKey);

  await send(INITIALIZE);
  const { prompts } = (await send({ method: "prompts/list" })).result;
  const get = (args: object) =>
    send({ method: "prompts/get", params: { name: "clean_list", arguments: args } });
  const { result } = await get({ addresses: "ada@example.com", purpose: "a newsletter" });

  expect(prompts).toMatchObject([{ name: "clean_list", title: "Clean a list of addresses" }]);
  const [{ content }] = result.messages;
  expect(content.text).toContain("ada@example.com");
  const tools = (await send({ method: "tools/list" })).result.tools as { name: string }[];
  const named = [...content.text.matchAll(/\b[a-z]+_(?:account|batch|job)\b/g)].map(
    ([name]) => name,
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !tools.some((one) => one.name === name))).toEqual([]);
  expect((await get({})).error.message).toContain("addresses is required");
});

test("mailproof mcp answers a wrong key, an absent service and a malformed line, and reads the next line", async () => {
  const { port } = await whenListening(...endpoints);
  const wrong = whenStarted(`http://127.0.0.1:${port}`, "mp_test_wrong");
  const absent = whenStarted("http://127.0.0.1:1", "mp_test_wrong");

  expect((await wrong.send(INITIALIZE)).error.message).toMatch(/key/i);
  wrong.write("no message");
  expect((await wrong.read()).error.code).toBe(-32_700);
  expect((await wrong.send(INITIALIZE)).id).toBe(2);
  expect((await absent.send(INITIALIZE)).error.message).toContain("No response from");
});

// npm run test:all -- mcp runs the command that docs/mcp.md prints. Here: that it can be copied from there as it stands.

test("the inspector's command in docs/mcp.md fits one line, asks no question and contains a version", () => {
  const page = readFileSync("docs/mcp.md", "utf8");
  const commands = page
    .split("\n")
    .filter((line) => line.includes("modelcontextprotocol/inspector"));

  expect(commands).toEqual([
    expect.stringMatching(
      /^npx --yes @modelcontextprotocol\/inspector@\d+\.\d+\.\d+ --cli <mcp_url> --transport http --header "Authorization: Bearer <the key>" --method tools\/list$/,
    ),
  ]);
});
