import type { Endpoint, Need } from "@mailproof/api/endpoint";
import { endpoints } from "@mailproof/api/endpoints";
import { namedOf } from "@mailproof/api/openapi/operations";
import type { Tool as Listed, ToolAnnotations } from "@modelcontextprotocol/server";
import { type Input, inputOf } from "./input.ts";
import { type Manner, type Mannered, TOOLS } from "./named.ts";

export type Tool = {
  readonly endpoint: Endpoint;
  readonly input: Input;
  /** As clients see it. */
  readonly listed: Listed;
};

const MANNERS: Readonly<Record<Manner, ToolAnnotations>> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  settles: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  removes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

/** Through these a call reaches beyond us: to mail servers, name servers, receivers, or to workers who ask them. */
const OUTWARD: readonly Need[] = ["mail", "dns", "https", "queue:send"];

const toolOf = (endpoint: Endpoint, { manner, hint }: Mannered): Tool => {
  const name = nameOf(endpoint);
  const input = inputOf(name, endpoint);
  return {
    endpoint,
    input,
    listed: {
      name,
      description: descriptionOf(endpoint, hint),
      inputSchema: input.schema as Listed["inputSchema"],
      annotations: {
        ...MANNERS[manner],
        openWorldHint: endpoint.needs.some((need) => OUTWARD.includes(need)),
      },
    },
  };
};

/** "verifyEmail" in the document is "verify_email" here: tools are called in small letters everywhere. */
const nameOf = ({ route }: Endpoint): string =>
  namedOf(route).id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const descriptionOf = ({ summary, price, access }: Endpoint, hint: string | undefined): string =>
  [
    summary,
    hint,
    price === null ? "This call is free." : `Price: ${price}`,
    access === "unrestricted" && "For unrestricted keys only.",
    access !== "unrestricted" && access !== "public" && `Scope: ${access}.`,
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(" ");

/** In the order of the API's table of contents. */
export const tools: readonly Tool[] = endpoints.flatMap((endpoint) => {
  const mannered = TOOLS[endpoint.route];
  return mannered ? [toolOf(endpoint, mannered)] : [];
});

export const toolCalled = (name: unknown): Tool | undefined =>
  tools.find(({ listed }) => listed.name === name);
