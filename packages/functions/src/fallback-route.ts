import { createClientFiles } from "@mailproof/api/http/client-files";
import { documentsFrom, STATUS_PATH, type Writers } from "@mailproof/api/http/documents";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import { createRouter, permanentRedirect } from "@mailproof/api/http/router";
import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import type { World } from "@mailproof/core/ports/world";
import { SEARCH_INDEX_PATH, writeSearchIndex } from "@mailproof/docs-site/search-index";
import { createEncoder } from "@mailproof/net/content-encoding";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { toResult } from "./buffer-response.ts";
import { createDashboard } from "./dashboard.ts";
import { PACKED_TEXTS, ROUTES } from "./documents.built.ts";
import { createHttpChain, identify } from "./http-chain.ts";
import { createLambdaLog } from "./log.ts";
import { unpackTexts } from "./packed-texts.ts";
import { readTrustedIssuer } from "./trusted-issuer.ts";

const route = createRouter(ROUTES);
const unpackWriters = (): Writers => {
  const texts = unpackTexts(PACKED_TEXTS);
  return {
    ...Object.fromEntries([...texts].map(([path, text]) => [path, () => text])),
    [SEARCH_INDEX_PATH]: () => writeSearchIndex(texts.get("/docs") ?? ""),
  };
};
const findDocument = documentsFrom(unpackWriters);
const findInDashboard = createDashboard(process.env);
const findClientFile = createClientFiles(
  async () => (await import("@mailproof/docs-site/clients/archives.built")).ARCHIVES,
);
const encodeAnswer = createEncoder();

/** This Lambda reads no state, and the manual of every deployment has the link. */
const TO_HEALTH: HttpAnswer<string> = {
  statusCode: 302,
  headers: { location: "/health" },
  body: "",
};

/** A HEAD has the headers of the GET, and no body. */
const toBytes = (
  method: string,
  { body, headers, ...answer }: HttpAnswer<Buffer>,
): APIGatewayProxyStructuredResultV2 => ({
  ...answer,
  headers: {
    ...headers,
    ...(method === "HEAD" && answer.statusCode === 200 && { "content-length": body.length }),
  },
  body: method === "HEAD" ? "" : body.toString("base64"),
  isBase64Encoded: method !== "HEAD",
});

/**
 * API Gateway's $default route: the documents, the dashboard, and 404 or 405 for everything else, since its own 404 has another
 * format and it has no 405.
 */
export const createFallbackHandler = (
  world: Pick<World, "log"> = { log: createLambdaLog() },
  trust: TrustedIssuer | null = readTrustedIssuer(process.env),
) =>
  createHttpChain(world, "nothing_charged").handler(async (event) => {
    const { method } = event.requestContext.http;
    const { rawPath, rawQueryString, headers } = event;
    const text =
      findInDashboard({ method, rawPath, headers }) ??
      findDocument({
        method,
        rawPath,
        accept: headers["accept"],
        baseUrl: identify(event).baseUrl,
        trust,
      });
    if (text) {
      if (text.statusCode !== 200) return toResult(text);
      const preferences = {
        acceptEncoding: headers["accept-encoding"],
        ifNoneMatch: headers["if-none-match"],
      };
      return toBytes(method, await encodeAnswer(text, preferences));
    }
    if (rawPath === STATUS_PATH) return toResult(TO_HEALTH);
    const file = await findClientFile({ method, rawPath });
    if (file) return toBytes(method, file);
    const { endpoint, movedTo } = route(method, rawPath);
    if (movedTo !== undefined) return toResult(permanentRedirect(movedTo, rawQueryString));
    throw new Error(`API Gateway does not know ${endpoint.route}`);
  });
