import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { toBytes, toEvent } from "../gateway-event.ts";
import { routes } from "../topology.ts";
import type { Programs } from "./programs.ts";

// Serves a release before any caller gets it: a server on this machine invokes the new version of each endpoint's Lambda, as API
// Gateway will.

/** The function and its new version, by the name of the Lambda. */
export type Versions = ReadonlyMap<string, { readonly name: string; readonly version: string }>;

const findLambda = (routeKey: string): string =>
  (routes.find(({ route }) => route === routeKey) ?? routes.at(-1))?.lambda.name ?? "";

/** Each event and each answer is a file, since a command line is neither long enough nor private. */
const createInvoke = ({ aws }: Programs, folder: string) => {
  let calls = 0;
  return async (name: string, version: string, event: object) => {
    const [sent, answered] = ["event", "answer"].map((file) => join(folder, `${file}-${calls}`));
    calls++;
    writeFileSync(sent ?? "", JSON.stringify(event), { mode: 0o600 });
    const of = `--function-name ${name} --qualifier ${version}`;
    const { FunctionError: fault } = await aws(
      `lambda invoke ${of} --payload fileb://${sent} ${answered}`,
    );
    const answer = readFileSync(answered ?? "", "utf8");
    if (fault) throw new Error(`${name}, version ${version}: ${answer.slice(0, 300)}`);
    return JSON.parse(answer) as APIGatewayProxyStructuredResultV2;
  };
};

/** Calls `use` with the URL of a server in front of the new versions. */
export const withNewVersions = async <Result>(
  programs: Programs,
  versions: Versions,
  use: (url: string) => Promise<Result>,
): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-release-"));
  const invoke = createInvoke(programs, folder);
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = incoming;
    const body = await buffer(incoming);
    const event = toEvent({
      method,
      url,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as const),
      ...(body.length > 0 && { body: body.toString() }),
    });
    const { name = "", version = "" } = versions.get(findLambda(event.routeKey)) ?? {};
    const answer = await invoke(name, version, event);
    response.writeHead(answer.statusCode ?? 200, answer.headers as Record<string, string>);
    response.end(toBytes(answer));
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: Error) => response.writeHead(502).end(error.message));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  }
};
