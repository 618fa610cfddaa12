import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { BLOB_CORS } from "@mailproof/api/http/cors";
import { CREDENTIALS, REGION, startEmulators } from "./emulators.ts";

// The emulator of S3 answers every request. This stands before it and lets through what is signed (Signature
// Version 4, written down here once more and without a library), and gives an answer the headers that a link asks for.

type Claim = {
  readonly credential: string;
  readonly date: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly payload: string;
  readonly lives: number | null;
};

const sha256 = (text: string | Buffer): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

const percentEncode = (text: string): string =>
  Buffer.from(text)
    .toString("latin1")
    .replaceAll(
      /[^\w.~-]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    );

/** From the query of a link, or from the header of a request. */
const parseClaim = ({ searchParams: query }: URL, { headers }: IncomingMessage): Claim | null => {
  if (query.has("X-Amz-Signature"))
    return {
      credential: query.get("X-Amz-Credential") ?? "",
      date: query.get("X-Amz-Date") ?? "",
      signedHeaders: (query.get("X-Amz-SignedHeaders") ?? "").split(";"),
      signature: query.get("X-Amz-Signature") ?? "",
      payload: "UNSIGNED-PAYLOAD",
      lives: Number(query.get("X-Amz-Expires")),
    };
  const [, credential, signed, signature] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (!credential || !signed || !signature) return null;
  return {
    credential,
    date: String(headers["x-amz-date"]),
    signedHeaders: signed.split(";"),
    signature,
    payload: String(headers["x-amz-content-sha256"]),
    lives: null,
  };
};

const computeSignature = (
  url: URL,
  { method = "", headers }: IncomingMessage,
  claim: Claim,
): string => {
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .toSorted()
    .join("&");
  const canonical = [
    method,
    url.pathname,
    query,
    ...claim.signedHeaders.map((name) => `${name}:${String(headers[name] ?? "").trim()}`),
    "",
    claim.signedHeaders.join(";"),
    claim.payload,
  ].join("\n");
  const day = claim.date.slice(0, 8);
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", claim.date, scope, sha256(canonical)].join("\n");
  const key = [REGION, "s3", "aws4_request"].reduce(
    hmac as (key: Buffer, text: string) => Buffer,
    hmac(`AWS4${CREDENTIALS.secretAccessKey}`, day),
  );
  return hmac(key, toSign).toString("hex");
};

const parseTime = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"));

const CLOCKS_APART_MS = 15 * 60_000;

/** Null: it may pass. */
const findFault = (
  url: URL,
  incoming: IncomingMessage,
  body: Buffer,
  nowMs: number,
): string | null => {
  const claim = parseClaim(url, incoming);
  if (!claim) return "AccessDenied";
  if (!claim.credential.startsWith(`${CREDENTIALS.accessKeyId}/`)) return "InvalidAccessKeyId";
  if (!claim.signedHeaders.includes("host")) return "AccessDenied";
  const ageMs = nowMs - parseTime(claim.date);
  const latest = claim.lives === null ? CLOCKS_APART_MS : claim.lives * 1000;
  if (!(ageMs < latest && ageMs > -CLOCKS_APART_MS)) return "AccessDenied";
  // What is not signed must not be there: S3 refuses its own headers when the signature does not cover them.
  const stray = Object.keys(incoming.headers).find(
    (name) => name.startsWith("x-amz-") && !claim.signedHeaders.includes(name),
  );
  if (stray) return "AccessDenied";
  if (claim.payload !== "UNSIGNED-PAYLOAD" && claim.payload !== sha256(body))
    return "XAmzContentSHA256Mismatch";
  const ours = Buffer.from(computeSignature(url, incoming, claim));
  const theirs = Buffer.from(claim.signature);
  return ours.length === theirs.length && timingSafeEqual(ours, theirs)
    ? null
    : "SignatureDoesNotMatch";
};

/** What S3 tells a browser of a bucket that is configured as ours is; for a method that is not listed, nothing. */
const toCorsHeaders = ({ headers, method }: IncomingMessage): Readonly<Record<string, string>> => {
  const wanted = headers["access-control-request-method"] ?? method;
  const isAllowed = (BLOB_CORS.allowMethods as readonly unknown[]).includes(wanted);
  if (headers.origin === undefined || !isAllowed) return {};
  return {
    "access-control-allow-origin": BLOB_CORS.allowOrigins.join(),
    "access-control-allow-methods": BLOB_CORS.allowMethods.join(),
    "access-control-allow-headers": headers["access-control-request-headers"] ?? "",
    "access-control-expose-headers": BLOB_CORS.exposeHeaders.join(),
  };
};

/** Where it stands; `now` is S3's clock, and a session ends when it says. A caller that opens it closes it. */
export const openSignatureProxy = async (
  now: () => Date,
  { sessionEndsAt }: { readonly sessionEndsAt?: Date } = {},
) => {
  const { others } = await startEmulators();
  const handle = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    const cors = toCorsHeaders(incoming);
    for (const [name, value] of Object.entries(cors)) answer.setHeader(name, value);
    if (incoming.method === "OPTIONS")
      return void answer.writeHead(cors["access-control-allow-origin"] ? 200 : 403).end();
    const url = new URL(incoming.url ?? "/", `http://${incoming.headers.host}`);
    const clock = incoming.headers["x-clock"];
    delete incoming.headers["x-clock"];
    const isOfSession = url.searchParams.has("X-Amz-Security-Token");
    if (isOfSession && sessionEndsAt && now() >= sessionEndsAt) {
      answer
        .writeHead(400)
        .end(
          "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>",
        );
      return;
    }
    const fault = findFault(url, incoming, body, now().getTime());
    if (fault) {
      const result = `<Error><Code>${fault}</Code></Error>`;
      answer.writeHead(403).end(incoming.method === "HEAD" ? undefined : result);
      return;
    }
    const headers = {
      ...incoming.headers,
      // S3 stores a body of any type as it is; the emulator parses some, and wants one to be named.
      "content-type": "application/octet-stream",
      ...(clock && { "x-clock": clock }),
    };
    const passing = request(new URL(incoming.url ?? "/", others), {
      method: incoming.method ?? "GET",
      headers,
    });
    passing.end(body);
    const [response] = (await once(passing, "response")) as [IncomingMessage];
    const wanted = [...url.searchParams].flatMap(([name, value]) =>
      name.startsWith("response-") ? [[name.slice("response-".length), value] as const] : [],
    );
    answer.writeHead(response.statusCode ?? 500, {
      ...response.headers,
      ...Object.fromEntries(wanted),
    });
    response.pipe(answer);
  };
  const server = createServer((incoming, answer) => {
    handle(incoming, answer).catch((error: unknown) => answer.destroy(error as Error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
