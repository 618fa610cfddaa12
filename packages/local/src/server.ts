import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { assertJsonType, BODY_BYTES_MAX, bodyTooLarge, parseJson } from "@mailproof/api/body";
import { corsHeaders, preflightHeaders } from "@mailproof/api/cors";
import { endpoints } from "@mailproof/api/endpoints";
import { asFailure, type HttpAnswer, refuse, respond } from "@mailproof/api/respond";
import { routerOf } from "@mailproof/api/routes";
import type { World } from "@mailproof/core/world";
import { BLOBS_PATH, type OpenLink } from "./blob-links.ts";
import { discarded, upTo } from "./incoming.ts";
import { serveBlob } from "./serve-blob.ts";

/** What API Gateway, Lambda and S3 are on AWS: route, read the body, respond. Nothing here has an opinion. */
export const server = (world: World, openLink: OpenLink): Server =>
  createServer((incoming, outgoing) => {
    // Nothing can reject here but a broken connection, and then nobody is left to be told.
    void serve(world, openLink, incoming, outgoing).catch(() => outgoing.destroy());
  });

const route = routerOf(endpoints);

const serve = async (
  world: World,
  openLink: OpenLink,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const id = world.newId("req");
  for (const [name, value] of Object.entries(corsHeaders)) outgoing.setHeader(name, value);
  try {
    if (incoming.method === "OPTIONS") return void outgoing.writeHead(204, preflightHeaders).end();
    if (incoming.url?.startsWith(BLOBS_PATH))
      return await serveBlob(world.blobs, openLink, incoming, outgoing);
    await send(incoming, outgoing, await answer(world, id, incoming));
  } catch (error) {
    // The caller hung up: there is nobody to answer, and nothing broke on our side.
    if (outgoing.headersSent || (incoming.destroyed && !incoming.complete))
      return void outgoing.destroy();
    await send(incoming, outgoing, refuse(world, id, asFailure(error, "nothing_charged")));
  }
};

const send = async (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { statusCode, headers, body }: HttpAnswer,
): Promise<void> => {
  // The rest of a body that nobody read would be taken for the caller's next request.
  if (!(await discarded(incoming))) outgoing.setHeader("connection", "close");
  const length = { "content-length": Buffer.byteLength(body) };
  outgoing.writeHead(statusCode, { ...headers, ...length }).end(body);
};

const answer = async (world: World, id: string, incoming: IncomingMessage): Promise<HttpAnswer> => {
  const [rawPath = "", search = ""] = targetOf(incoming).split(/\?(.*)/s, 2);
  const { endpoint, path } = route(incoming.method ?? "", rawPath);
  const body = () => readBody(incoming);
  const query = queryOf(search);
  return respond(world, endpoint, { id, headers: plain(incoming), path, query, body });
};

/**
 * Path and query. A proxy may name the whole address (RFC 9112 §3.2.2). Not by `new URL`: it takes the start of
 * //host/path for another server's name.
 */
const targetOf = ({ url = "" }: IncomingMessage): string => url.replace(/^https?:\/\/[^/?]*/i, "");

const readBody = async (incoming: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of upTo(BODY_BYTES_MAX, incoming, bodyTooLarge)) chunks.push(chunk);
  if (chunks.length === 0) return undefined;
  assertJsonType(incoming.headersDistinct["content-type"]?.join(","));
  return parseJson(Buffer.concat(chunks).toString());
};

/** As API Gateway does it: a parameter that comes twice is one value with a comma in it. */
const queryOf = (search: string): Record<string, string> => {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(search))
    values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries([...values].map(([name, all]) => [name, all.join(",")]));
};

/** The same for headers. Node would keep the first of some names, and put a blank after the comma of others. */
const plain = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(",")]),
  );
