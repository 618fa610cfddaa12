import { programEndpoints } from "@mailproof/api/endpoints";
import type { Effect, Endpoint, ToolOptions } from "@mailproof/api/http/endpoint";
import type { Need } from "@mailproof/core/runtime/need";
import type { Tool as Listed, ToolAnnotations } from "@modelcontextprotocol/server";
import { buildInput, type ToolInput } from "./input.ts";
import { buildOutput } from "./output.ts";

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

/** With these needs a call reaches other systems: mail servers, name servers, webhooks. */
const OUTWARD: readonly Need[] = ["mail", "dns", "https"];

/** A call that only reads starts no worker that contacts them. */
const reachesOut = ({ needs }: Endpoint, effect: Effect): boolean =>
  needs.some((need) => OUTWARD.includes(need)) ||
  (effect !== "readOnly" && needs.includes("queue:send"));

const buildTool = (endpoint: Endpoint, { effect, hint }: ToolOptions): Derived => {
  const name = getToolName(endpoint);
  const input = buildInput(endpoint);
  return {
    id: endpoint.id,
    input,
    listed: {
      name,
      title: toTitle(name),
      description: buildDescription(endpoint, hint),
      inputSchema: input.schema as Listed["inputSchema"],
      outputSchema: buildOutput(endpoint),
      annotations: {
        ...ANNOTATIONS[effect],
        openWorldHint: reachesOut(endpoint, effect),
      },
    },
  };
};

/** verifyEmail → verify_email: names of tools are in lower case. */
const getToolName = ({ id }: Endpoint): string =>
  id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** verify_email → Verify email */
const toTitle = (name: string): string => {
  const words = name.replaceAll("_", " ").replace(/\bapi\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

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
export const DERIVED: readonly Derived[] = programEndpoints.flatMap((endpoint) =>
  endpoint.tool ? [buildTool(endpoint, endpoint.tool)] : [],
);
