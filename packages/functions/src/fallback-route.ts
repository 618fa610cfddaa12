import { orderAnswerers, type UnroutedRequest } from "@mailproof/api/http/answerers";
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
const toGatewayResult = (
  method: string,
  { body, headers, ...answer }: HttpAnswer<string | Buffer>,
): APIGatewayProxyStructuredResultV2 =>
  typeof body === "string"
    ? toResult({ ...answer, headers, body })
    : {
        ...answer,
        headers: {
          ...headers,
          ...(method === "HEAD" && answer.statusCode === 200 && { "content-length": body.length }),
        },
        body: method === "HEAD" ? "" : body.toString("base64"),
        isBase64Encoded: method !== "HEAD",
      };

/**
 * API Gateway's $default route: the documents, the dashboard, and 404 or 405 for everything else, since its own 404 has another
 * format and it has no 405.
 */
export const createFallbackHandler = (
  world: Pick<World, "log"> = { log: createLambdaLog() },
  trust: TrustedIssuer | null = readTrustedIssuer(process.env),
) => {
  /** A redirect passes unchanged. */
  const encode = (text: HttpAnswer<string> | undefined, { headers }: UnroutedRequest) =>
    text?.statusCode === 200 ? encodeAnswer(text, headers) : text;
  const answerers = orderAnswerers<UnroutedRequest, string | Buffer>({
    dashboard: (request) => encode(findInDashboard(request), request),
    clients: findClientFile,
    status: ({ rawPath }) => (rawPath === STATUS_PATH ? TO_HEALTH : undefined),
    documents: (request) => encode(findDocument(request, trust), request),
  });
  return createHttpChain(world, "nothing_charged").handler(async (event) => {
    const { method } = event.requestContext.http;
    const { rawPath, rawQueryString: search, headers } = event;
    const request = { ...identify(event), method, rawPath, search, headers };
    for (const { answer } of answerers) {
      const found = await answer(request);
      if (found) return toGatewayResult(method, found);
    }
    const { endpoint, movedTo } = route(method, rawPath);
    if (movedTo !== undefined) return toResult(permanentRedirect(movedTo, search));
    throw new Error(`API Gateway does not know ${endpoint.route}`);
  });
};
