import { programEndpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { DERIVED, type Derived } from "./tools.built.ts";

export type Tool = Derived & { readonly endpoint: Endpoint };

export const tools: readonly Tool[] = DERIVED.flatMap((derived) =>
  programEndpoints
    .filter(({ id }) => id === derived.id)
    .map((endpoint) => ({ ...derived, endpoint })),
);

export const findTool = (name: unknown): Tool | undefined =>
  tools.find(({ listed }) => listed.name === name);

/** The tools that most conversations need. A model reads every listed tool before it starts. */
const USUAL: readonly string[] = [
  "verify_email",
  "verify_batch",
  "verify_file",
  "list_jobs",
  "get_job",
  "cancel_job",
  "download_job",
  "find_email",
  "check_domain",
  "get_account",
];

export const listTools = (isAll: boolean): readonly Tool[] =>
  isAll ? tools : tools.filter(({ listed }) => USUAL.includes(listed.name));
