import { createHash, randomUUID } from "node:crypto";
import { epochSeconds } from "@mailproof/core/moments";
import type { Item, Key, Table, Transacted, Write, Written } from "@mailproof/core/table";
import { assertKey, assertQueryable, assertTransactable } from "@mailproof/core/table-limits";
import { after, holds, keyOf, serialise } from "@mailproof/core/writes";
import { type Aws, asError, isBusy, persist, type Refusal } from "./aws.ts";
import { type Command, commandFor, keyValues, replaceExpired } from "./dynamo-expressions.ts";
import { pageOf } from "./dynamo-query.ts";
import { toItem, type Values } from "./dynamo-values.ts";
import { type Answered, type JsonService, jsonService } from "./json-service.ts";

/** Hundreds of milliseconds are much for DynamoDB, and a caller waits behind it. */
const TIMEOUT_MS = 3_000;

/** Asked once more after a lost answer; whoever is told "ambiguous" asks again himself (core/src/commit.ts). */
const LOST_MAX = 1;

type Door = {
  readonly aws: Aws;
  readonly name: string;
  readonly dynamo: JsonService;
  readonly seconds: () => number;
};

export const dynamoTable = (aws: Aws, name: string): Table => {
  const dynamo = jsonService(aws, "dynamodb", "DynamoDB_20120810", TIMEOUT_MS);
  const seconds = () => epochSeconds(aws.now());
  const door: Door = { aws, name, dynamo, seconds };
  return {
    get: async (key) => {
      assertKey(key);
      return read(door, key);
    },
    query: async (query) => {
      assertQueryable(query);
      return pageOf(query, seconds(), (input) =>
        readOutput(door, "Query", { TableName: name, ...input }),
      );
    },
    write: async (write) => {
      assertTransactable([write]);
      return "check" in write || "checkAbsent" in write
        ? look(door, write)
        : writeAlone(door, write);
    },
    transact: async (writes, { token, at } = { token: randomUUID(), at: aws.now() }) => {
      assertTransactable(writes);
      const nowSeconds = epochSeconds(at);
      const commands = writes.map((write) => commandFor(write, nowSeconds));
      return transact(door, writes, { token: clientRequestToken(token), commands });
    },
  };
};

const read = async (door: Door, key: Key): Promise<Item | undefined> => {
  const { Item } = await readOutput<{ Item?: Values }>(door, "GetItem", {
    TableName: door.name,
    Key: keyValues(key),
    ConsistentRead: true,
  });
  const item = Item && toItem(Item);
  return item && isOver(item, door.seconds()) ? undefined : item;
};

const isOver = ({ expires_at }: Item, nowSeconds: number): boolean =>
  expires_at !== undefined && expires_at <= nowSeconds;

const readOutput = async <T>(
  { aws, dynamo }: Door,
  operation: string,
  input: object,
): Promise<T> => {
  const { heard } = await persist(aws, Number.POSITIVE_INFINITY, () => dynamo<T>(operation, input));
  if (heard.kind === "ok") return heard.output;
  throw asError(operation, heard);
};

/** A check alone is a read: nobody writes between it and itself. */
const look = async (door: Door, write: Write): Promise<Written> => {
  const stored = await read(door, keyOf(write));
  return holds(write, stored)
    ? { outcome: "committed", item: stored }
    : { outcome: "refused", by: write };
};

const OPERATION = { Put: "PutItem", Update: "UpdateItem", Delete: "DeleteItem" } as const;

const writeAlone = async (
  door: Door,
  write: Write,
  command: Command = commandFor(write, door.seconds()),
): Promise<Written> => {
  const { action, ...input } = command;
  if (action === "ConditionCheck") throw new RangeError("a check is no write");
  const { aws, dynamo, name } = door;
  // Not asked again after a lost answer: what is added would be added twice.
  const { heard } = await persist(aws, 0, () =>
    dynamo<{ Attributes?: Values }>(OPERATION[action], {
      TableName: name,
      ...input,
      ...(action === "Update" && { ReturnValues: "ALL_NEW" }),
      ...(input.ConditionExpression && TELL_WHY),
    }),
  );
  if (heard.kind === "lost") return { outcome: "ambiguous" };
  if (heard.kind === "ok") {
    const { Attributes } = heard.output;
    return { outcome: "committed", item: Attributes ? toItem(Attributes) : madeBy(write) };
  }
  if (heard.kind === "busy") throw asError(OPERATION[action], heard);
  if (heard.code !== "ConditionalCheckFailedException") throw await explained(door, [write], heard);
  const stored = (JSON.parse(heard.text) as { Item?: Values }).Item;
  const instead = insteadOf(write, stored, door.seconds());
  if (!instead) assertAddable(write, stored);
  return instead ? writeAlone(door, write, instead) : { outcome: "refused", by: write };
};

const TELL_WHY = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

/** As it was stored: a field that is undefined is not there. */
const madeBy = (write: Write): Item | undefined => {
  const item = after(write, undefined);
  return item && (JSON.parse(serialise(item)) as Item);
};

/**
 * An item whose time is over is absent, but an update would still find its fields. So where one may create, it takes
 * the place of what is left of the old one.
 */
const insteadOf = (
  write: Write,
  stored: Values | undefined,
  nowSeconds: number,
): Command | undefined => {
  const isInTheWay = stored !== undefined && isOver(toItem(stored), nowSeconds);
  if (!isInTheWay || !("update" in write) || !holds(write, undefined)) return undefined;
  const item = after(write, undefined);
  return item && replaceExpired(item, nowSeconds);
};

/** What is no number is below no bound, says DynamoDB. We say that nothing can be added to it. */
const assertAddable = (write: Write, stored: Values | undefined): void =>
  void holds(write, stored && toItem(stored));

/** What is wanted, and the name under which AWS does it once however often it is asked (for ten minutes). */
type Wish = { readonly token: string; readonly commands: readonly Command[] };

const TOKEN_LENGTH_MAX = 36;

/** DynamoDB takes 36 characters; a token of ours may be longer, by its prefix. */
const clientRequestToken = (token: string): string =>
  token.length <= TOKEN_LENGTH_MAX
    ? token
    : createHash("sha256").update(token).digest("hex").slice(0, TOKEN_LENGTH_MAX);

type Reason = { readonly Code?: string; readonly Item?: Values };

const transact = async (door: Door, writes: readonly Write[], wish: Wish): Promise<Transacted> => {
  const { aws, name } = door;
  const { heard, wasLost } = await persist(aws, LOST_MAX, () => transactOnce(door, wish));
  if (heard.kind === "ok") return { outcome: "committed" };
  if (heard.kind === "lost" || (heard.kind === "busy" && wasLost)) return { outcome: "ambiguous" };
  if (heard.kind === "busy") throw asError(`TransactWriteItems on ${name}`, heard);

  const reasons = reasonsIn(heard);
  const failed = reasons.findIndex(({ Code }) => Code === FAILED);
  // What is refused for another reason says nothing of an earlier try.
  if (failed < 0 && wasLost) return { outcome: "ambiguous" };
  if (failed < 0) throw await explained(door, writes, heard);
  const instead = reasons.map(({ Code, Item }, at) =>
    Code === FAILED ? insteadOf(writes[at] as Write, Item, door.seconds()) : undefined,
  );
  const refused = reasons.findIndex(({ Code }, at) => Code === FAILED && !instead[at]);
  if (refused >= 0) {
    const by = writes[refused] as Write;
    assertAddable(by, reasons[refused]?.Item);
    return { outcome: "refused", by };
  }
  const commands = wish.commands.map((command, at) => instead[at] ?? command);
  return transact(door, writes, { token: randomUUID(), commands });
};

const FAILED = "ConditionalCheckFailed";

const transactOnce = async (
  { dynamo, name }: Door,
  { token, commands }: Wish,
): Promise<Answered<unknown>> => {
  const heard = await dynamo("TransactWriteItems", {
    ClientRequestToken: token,
    TransactItems: commands.map(({ action, ...command }) => ({
      [action]: { TableName: name, ...command, ...(command.ConditionExpression && TELL_WHY) },
    })),
  });
  if (heard.kind !== "refused") return heard;
  const codes = reasonsIn(heard).map(({ Code = "None" }) => Code);
  // Somebody else was at one of the items, and none of the conditions is known to fail.
  const isInTheWay = !codes.includes(FAILED) && codes.some(isBusy);
  return isInTheWay ? { kind: "busy", cause: new Error(codes.join(" ")) } : heard;
};

const reasonsIn = ({ code, text }: Refusal): readonly Reason[] =>
  code === "TransactionCanceledException"
    ? ((JSON.parse(text) as { CancellationReasons?: Reason[] }).CancellationReasons ?? [])
    : [];

/** DynamoDB does not say which field is no number; what is stored does. */
const explained = async (
  door: Door,
  writes: readonly Write[],
  refusal: Refusal,
): Promise<unknown> => {
  for (const write of writes.filter((one) => "update" in one && one.add)) {
    try {
      after(write, await read(door, keyOf(write)));
    } catch (error) {
      return error;
    }
  }
  return asError("a write", refusal);
};
