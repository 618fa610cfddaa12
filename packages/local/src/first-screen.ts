import type { Running } from "./start.ts";

/** What a newcomer sees first: where it is, what opens it, and lines that work as they stand. */
export const firstScreen = (
  { baseUrl, mcpUrl, version, demo }: Running,
  directory: string,
): string => `
  Mailproof ${version} answers at ${baseUrl}

  docs       ${baseUrl}/docs   how to use it; /openapi.json is the same for programs
  live key   ${demo.live_key}   costs the demo account's credits
  test key   ${demo.test_key}   made-up answers, costs nothing
  tools      ${mcpUrl}   for agents, by MCP, with either key (docs/mcp.md)
  state      ${directory}   (npm start -- --fresh forgets it)

  Try it, in another terminal:

  export MAILPROOF_API=${baseUrl} MAILPROOF_KEY=${demo.live_key}

  curl -s ${baseUrl}/v1/account -H 'X-Api-Key: ${demo.live_key}'

  curl -s ${baseUrl}/v1/verify -H 'X-Api-Key: ${demo.live_key}' -H 'Content-Type: application/json' -d '{"email": "ada.lovelace@valid.lab.mailproof.test"}'

  npx mailproof verify ada.lovelace@valid.lab.mailproof.test

  Ctrl-C stops it; nothing is lost.

`;
