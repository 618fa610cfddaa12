import { basename } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
import { toFileName } from "@mailproof/api/http/endpoint";

/** Lambdas with one budget: what they reach decides what they carry. */
export type LambdaGroup = "table" | "documents" | "reach" | "files" | "tools" | "workers";

/** It judges the bounces that a sender reports, and so carries the rules for replies of mail servers (docs/design/verdicts.md). */
const READS_REPLIES = "record-activity";

/** By the file that its bundle begins at, or that the bundle is. */
export const getLambdaGroup = (file: string): LambdaGroup => {
  if (!file.includes("http/")) return "workers";
  const name = basename(file).replace(/\.m?[jt]s$/, "");
  if (name === "mcp") return "tools";
  if (name === "compat") return "reach";
  if (name === "$default") return "documents";
  const { needs } = endpoints.find((one) => toFileName(one) === name) ?? { needs: [] };
  if (needs.some((need) => need.startsWith("blobs:"))) return "files";
  const isReaching = name === READS_REPLIES || needs.some((need) => !need.startsWith("table:"));
  return isReaching ? "reach" : "table";
};
