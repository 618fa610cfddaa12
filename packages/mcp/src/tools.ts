import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { DERIVED, type Derived } from "./tools.built.ts";

export type Tool = Derived & { readonly endpoint: Endpoint };

export const tools: readonly Tool[] = DERIVED.flatMap((derived) =>
  endpoints.filter(({ id }) => id === derived.id).map((endpoint) => ({ ...derived, endpoint })),
);

export const findTool = (name: unknown): Tool | undefined =>
  tools.find(({ listed }) => listed.name === name);
