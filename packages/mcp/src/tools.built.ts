import { endpoints } from "@mailproof/api/endpoints";
import type { Effect, Endpoint, Need, ToolOptions } from "@mailproof/api/http/endpoint";
import type { Tool as Listed, ToolAnnotations } from "@modelcontextprotocol/server";
import { buildInput, type ToolInput } from "./input.ts";

/** A tool, derived from its endpoint: plain data, made once when a bundle is built. */
export type Derived = {
  readonly id: string;
  readonly input: ToolInput;
  /** The definition that clients receive. */
  readonly listed: Listed;
};

const ANNOTATIONS: Readonly<Record<Effect, ToolAnnotations>> = {
  readOnly: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  additive: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  idempotent: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

/** With these needs a call reaches other systems: mail servers, name servers, webhooks, or workers that contact them. */
const OUTWARD: readonly Need[] = ["mail", "dns", "https", "queue:send"];

const buildTool = (endpoint: Endpoint, { effect, hint }: ToolOptions): Derived => {
  const name = getToolName(endpoint);
  const input = buildInput(endpoint);
  return {
    id: endpoint.id,
    input,
    listed: {
      name,
      description: buildDescription(endpoint, hint),
      inputSchema: input.schema as Listed["inputSchema"],
      annotations: {
        ...ANNOTATIONS[effect],
        openWorldHint: endpoint.needs.some((need) => OUTWARD.includes(need)),
      },
    },
  };
};

/** verifyEmail → verify_email: names of tools are in lower case. */
const getToolName = ({ id }: Endpoint): string =>
  id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const buildDescription = ({ summary, price, access }: Endpoint, hint: string | undefined): string =>
  [
    summary,
    hint,
    price === null ? "This call is free." : `Price: ${price}`,
    access === "unrestricted" && "For unrestricted keys only.",
    access !== "unrestricted" && access !== "public" && `Scope: ${access}.`,
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(" ");

/** In the order of the endpoints. */
export const DERIVED: readonly Derived[] = endpoints.flatMap((endpoint) =>
  endpoint.tool ? [buildTool(endpoint, endpoint.tool)] : [],
);
