import { isObject } from "@mailproof/api/http/parse";
import { call, type ToolArguments } from "@mailproof/mcp/call";
import { type Tool, tools } from "@mailproof/mcp/tools";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { BASE_URL } from "../send.ts";
import { type Chances, createChances } from "./random.ts";
import { drawFitting, type Pools, SPOILED } from "./shapes.ts";

const CALLS = 80;
const POOLS: Pools = new Map([
  ["email", ["ann@example.com", "no-reply@example.com"]],
  ["domain", ["example.com", "nullmx.example.com"]],
  ["sending_ip", ["192.0.2.1"]],
  ["url", ["https://example.com/hook"]],
  ["occurred_at", ["2026-11-20T10:00:00Z"]],
]);

const drawn = (chances: Chances, { listed }: Tool): ToolArguments => {
  const fits = drawFitting({ document: {}, chances, pools: POOLS }, listed.inputSchema);
  const spoil = chances.one(Object.values(SPOILED));
  const args = chances.sometimes(0.5) ? spoil(chances, fits) : fits;
  // What is no object the protocol refuses before any tool is called.
  return (isObject(args) ? args : fits) as ToolArguments;
};

// By no address can a request come with half a letter or an empty part in it; by a tool call it can.
test.each(tools.map((tool, at) => [tool.listed.name, tool, at] as const))(
  "of drawn calls of %s none is a bug, and each that is refused says so of the money",
  async (_name, tool, at) => {
    const { world, liveKey, testKey } = await given({ balance: 1_000, plan: "scale" });
    const chances = createChances(at + 1);

    for (let done = 0; done < CALLS; done++) {
      const args = drawn(chances, tool);
      const key = chances.one([liveKey, testKey]);
      const credentials = { headers: { "x-api-key": key } };
      const { isError, structuredContent } = await call(world, tool, args, credentials, BASE_URL);
      if (!isError) continue;
      expect(structuredContent, `${JSON.stringify(args)}`).toMatchObject({
        error: { code: expect.not.stringMatching("INTERNAL"), money: expect.any(String) },
      });
    }
  },
);
