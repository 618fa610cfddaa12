import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

type Value = { readonly stringValue?: string; readonly intValue?: string };
export type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links: readonly { readonly traceId: string }[];
  readonly status: { readonly code?: number };
};
type Sent = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SentSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
};

/** A collector. `answer` is its status; "never" leaves the client waiting. */
export const givenCollector = async (answer: () => number | "never" = () => 200) => {
  const bodies: string[] = [];
  const requests: { readonly path: string | undefined; readonly headers: IncomingHttpHeaders }[] =
    [];
  const receive = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await text(incoming);
    const status = answer();
    requests.push({ path: incoming.url, headers: incoming.headers });
    if (status === 200) bodies.push(body);
    if (status !== "never") outgoing.writeHead(status).end("{}");
  };
  const server = createServer((incoming, outgoing) => void receive(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const sent = () => bodies.map((body) => JSON.parse(body) as Sent);
  const spans = (): readonly SentSpan[] =>
    sent().flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, bodies, requests, sent, spans };
};
