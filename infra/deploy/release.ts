import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { toBytes, toEvent } from "../gateway-event.ts";
import { createParameterNamer } from "../parameters.ts";
import { LIVE, released, routes, VERSIONS } from "../topology.ts";
import type { Programs } from "./programs.ts";

// A release in steps. SST has published a new version of each Lambda, while callers and queues still use the former one by
// an alias. The smoke test calls the new versions; then the alias sends a part of all calls there, and the alarms are read before
// the part grows. Whatever fails puts every alias back.

export type Release = {
  readonly stage: string;
  readonly isAtOnce: boolean;
  readonly programs: Programs;
  /** Fails when the service at this URL does not work. */
  readonly smoke: (url: string) => Promise<void>;
};

type Move = { readonly name: string; readonly from: string; readonly to: string };

/** Alarms look at a quarter of an hour. */
const STEPS: readonly { readonly weight: number; readonly minutes: number }[] = [
  { weight: 0.1, minutes: 15 },
  { weight: 0.5, minutes: 15 },
];
const MINUTE_MS = 60_000;
/** AWS's command line is a process that takes a second of a processor. */
const AT_ONCE = 8;

const forAll = async <Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(act))));
  return results;
};

/** Reads the names of the Lambdas on AWS, and the versions that the deployment published. */
const readVersions = async ({ aws }: Programs, stage: string) => {
  const toName = createParameterNamer("mailproof", stage);
  const path = toName("lambda");
  const [{ Parameters: named }, { Parameter: published }] = await Promise.all([
    aws(`ssm get-parameters-by-path --path ${path}`),
    aws(`ssm get-parameter --name ${toName(VERSIONS)}`),
  ]);
  const versions = JSON.parse(published.Value) as Readonly<Record<string, string>>;
  const names = new Map<string, string>(
    named.map(({ Name: name, Value: value }: Record<"Name" | "Value", string>) => [
      name.slice(path.length + 1),
      value,
    ]),
  );
  return new Map(
    released.map(({ name }) => [
      name,
      { name: names.get(name) ?? name, version: versions[name] ?? "" },
    ]),
  );
};

const update = ({ aws }: Programs, name: string, change: string): Promise<unknown> =>
  aws(`lambda update-alias --function-name ${name} --name ${LIVE} ${change}`);

const shift = (programs: Programs, moves: readonly Move[], weight: number) =>
  forAll(moves, ({ name, from, to }) =>
    update(
      programs,
      name,
      weight === 1
        ? `--function-version ${to} --routing-config AdditionalVersionWeights={}`
        : `--function-version ${from} --routing-config AdditionalVersionWeights={${weight === 0 ? "" : `${to}=${weight}`}}`,
    ),
  );

const listRinging = async ({ aws }: Programs, stage: string): Promise<readonly string[]> => {
  const { MetricAlarms: alarms } = await aws(
    `cloudwatch describe-alarms --state-value ALARM --alarm-name-prefix mailproof-${stage}-`,
  );
  return alarms.map(({ AlarmName: name }: { readonly AlarmName: string }) => name);
};

/** Fails at the first alarm that did not ring before. */
const watch = async (
  { programs, stage }: Release,
  before: readonly string[],
  minutes: number,
): Promise<void> => {
  for (let minute = 0; minute < minutes; minute++) {
    await programs.sleep(MINUTE_MS);
    const rung = (await listRinging(programs, stage)).filter((name) => !before.includes(name));
    if (rung.length > 0) throw new Error(`${rung.join(", ")} rings`);
  }
};

/** Runs the smoke test against the new versions, through a server on this machine. */
const test = (release: Release, versions: Awaited<ReturnType<typeof readVersions>>) =>
  withNewVersions(release.programs, versions, release.smoke);

export const moveCallers = async (release: Release): Promise<void> => {
  const { programs, stage, isAtOnce } = release;
  const { say } = programs;
  const versions = await readVersions(programs, stage);
  const aliases = await forAll([...versions.values()], async ({ name, version: to }) => {
    const { FunctionVersion: from } = await programs.aws(
      `lambda get-alias --function-name ${name} --name ${LIVE}`,
    );
    return { name, from, to } as Move;
  });
  const moves = aliases.filter(({ from, to }) => from !== to);
  if (moves.length === 0) return say("Callers have the latest version of every Lambda.");
  if (isAtOnce) {
    await shift(programs, moves, 1);
    return say(`All callers have the new versions of ${moves.length} Lambdas.`);
  }
  const before = await listRinging(programs, stage);
  try {
    await test(release, versions);
    for (const { weight, minutes } of STEPS) {
      await shift(programs, moves, weight);
      say(`${weight * 100} % of all calls go to the new versions; ${minutes} minutes of alarms.`);
      await watch(release, before, minutes);
    }
    await shift(programs, moves, 1);
  } catch (error) {
    await shift(programs, moves, 0);
    throw new Error(
      `${(error as Error).message}. All callers have the version before. Deploy the commit before, so that the stage is what they have.`,
      { cause: error },
    );
  }
  say(`All callers have the new versions of ${moves.length} Lambdas.`);
};

// Serves a release before any caller gets it: a server on this machine invokes the new version of each endpoint's Lambda, as API
// Gateway will.

/** The function and its new version, by the name of the Lambda. */
type Versions = ReadonlyMap<string, { readonly name: string; readonly version: string }>;

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
const withNewVersions = async <Result>(
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
