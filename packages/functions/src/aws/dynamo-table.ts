import { createHash, randomUUID } from "node:crypto";
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { toEpochSeconds } from "@mailproof/core/lib/time";
import type {
  Item,
  Key,
  Table,
  TransactResult,
  Write,
  WriteResult,
} from "@mailproof/core/ports/table";
import { assertKey, assertQueryable, assertTransactable } from "@mailproof/core/ports/table-limits";
import { applyWrite, getItemKey, mayApply, serializeItem } from "@mailproof/core/ports/writes";
import { buildCommand, type DynamoCommand, toTableKey } from "./dynamo-expressions.ts";
import { readPage } from "./dynamo-query.ts";
import {
  type Aws,
  type AwsRefusal,
  type AwsReply,
  createClientOptions,
  isBusy,
  requireOk,
  retryAwsCall,
  toAwsError,
  toReply,
  withClock,
} from "./requests.ts";

/** Hundreds of milliseconds are long for DynamoDB, and a caller is waiting. */
const TIMEOUT_MS = 3_000;

/** One retry after a lost reply; on "ambiguous" the caller retries (core/src/runtime/commit.ts). */
const LOST_RETRIES_MAX = 1;

type TableContext = {
  readonly aws: Aws;
  readonly name: string;
  readonly dynamo: DynamoDBDocumentClient;
  readonly seconds: () => number;
};

export const createDynamoTable = (aws: Aws, name: string): Table => {
  const dynamo = createDocumentClient(aws);
  const seconds = () => toEpochSeconds(aws.now());
  const context: TableContext = { aws, name, dynamo, seconds };
  return {
    get: async (key) => {
      assertKey(key);
      return readItem(context, key);
    },
    query: async (query) => {
      assertQueryable(query);
      return readPage(query, seconds(), (input) =>
        readOutput(aws, "Query", () =>
          dynamo.send(new QueryCommand({ TableName: name, ...input })),
        ),
      );
    },
    write: async (write) => {
      assertTransactable([write]);
      return "check" in write || "checkAbsent" in write
        ? checkCondition(context, write)
        : writeAlone(context, write);
    },
    transact: async (writes, { token, at } = { token: randomUUID(), at: aws.now() }) => {
      assertTransactable(writes);
      const nowSeconds = toEpochSeconds(at);
      const commands = writes.map((write) => buildCommand(write, nowSeconds));
      return transactWithReplacements(context, writes, {
        token: clientRequestToken(token),
        commands,
      });
    },
  };
};

/** Every number that JavaScript holds is stored, and read again as a number. */
const WRITE_OPTIONS = { removeUndefinedValues: true, allowImpreciseNumbers: true };
const READ_OPTIONS = { wrapNumbers: Number };

const createDocumentClient = (aws: Aws): DynamoDBDocumentClient => {
  const options = createClientOptions(aws, "dynamodb", () => TIMEOUT_MS);
  // Copies the options, because the client adds its own.
  return DynamoDBDocumentClient.from(withClock(aws, new DynamoDBClient(options)), {
    marshallOptions: { ...WRITE_OPTIONS },
    unmarshallOptions: { ...READ_OPTIONS },
  });
};

const readItem = async (
  { aws, dynamo, name, seconds }: TableContext,
  key: Key,
): Promise<Item | undefined> => {
  const output = await readOutput(aws, "GetItem", () =>
    dynamo.send(new GetCommand({ TableName: name, Key: toTableKey(key), ConsistentRead: true })),
  );
  const item = output.Item as Item | undefined;
  return item && isExpired(item, seconds()) ? undefined : item;
};

const isExpired = ({ expires_at }: Item, nowSeconds: number): boolean =>
  expires_at !== undefined && expires_at <= nowSeconds;

const readOutput = async <T>(aws: Aws, what: string, read: () => Promise<T>): Promise<T> => {
  const { reply } = await retryAwsCall(aws, Number.POSITIVE_INFINITY, () => toReply(read()));
  return requireOk(what, reply);
};

/** A check without a write is a read. */
const checkCondition = async (context: TableContext, write: Write): Promise<WriteResult> => {
  const stored = await readItem(context, getItemKey(write));
  return mayApply(write, stored)
    ? { outcome: "committed", item: stored }
    : { outcome: "refused", refusedWrite: write };
};

const COMMAND = { Put: PutCommand, Update: UpdateCommand, Delete: DeleteCommand } as const;

const writeAlone = async (
  context: TableContext,
  write: Write,
  command: DynamoCommand = buildCommand(write, context.seconds()),
): Promise<WriteResult> => {
  const { action, ...input } = command;
  if (action === "ConditionCheck") throw new RangeError("a check is not a write");
  const { aws, dynamo, name } = context;
  const request = {
    TableName: name,
    ...input,
    ...(action === "Update" && { ReturnValues: "ALL_NEW" }),
    ...(input.ConditionExpression && RETURN_OLD_ITEM),
  };
  // No retry after a lost reply: an amount would be added twice.
  const { reply } = await retryAwsCall(aws, 0, () =>
    toReply(dynamo.send(new COMMAND[action](request as never) as UpdateCommand)),
  );
  if (reply.kind === "lost") return { outcome: "ambiguous" };
  if (reply.kind === "ok") {
    const item = reply.output.Attributes as Item | undefined;
    return { outcome: "committed", item: item ?? toStoredItem(write) };
  }
  if (reply.kind === "busy") throw toAwsError(`${action}Item`, reply);
  if (!(reply.error instanceof ConditionalCheckFailedException))
    throw await toWriteError(context, [write], reply);
  const stored = toItem(reply.error.Item);
  const instead = buildReplacement(write, stored, context.seconds());
  if (!instead) assertAddable(write, stored);
  return instead
    ? writeAlone(context, write, instead)
    : { outcome: "refused", refusedWrite: write };
};

/** The document client translates its results, but not the items in its errors. */
const toItem = (stored: Record<string, AttributeValue> | undefined): Item | undefined =>
  stored && (unmarshall(stored, READ_OPTIONS) as Item);

const RETURN_OLD_ITEM = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

/** The item as stored: undefined fields are absent. */
const toStoredItem = (write: Write): Item | undefined => {
  const item = applyWrite(write, undefined);
  return item && (JSON.parse(serializeItem(item)) as Item);
};

/**
 * An expired item counts as absent, but an update would still find its fields. So an update that may create replaces
 * the expired item.
 */
const buildReplacement = (
  write: Write,
  stored: Item | undefined,
  nowSeconds: number,
): DynamoCommand | undefined => {
  const isInTheWay = stored !== undefined && isExpired(stored, nowSeconds);
  if (!isInTheWay || !("update" in write) || !mayApply(write, undefined)) return undefined;
  const item = applyWrite(write, undefined);
  return item && buildCommand({ create: item }, nowSeconds);
};

/** Throws for an addition to a value that is not a number. DynamoDB itself would accept such a value as within every bound. */
const assertAddable = (write: Write, stored: Item | undefined): void =>
  void mayApply(write, stored);

/** A transaction and the token under which AWS executes it once (for ten minutes). */
type TransactRequest = { readonly token: string; readonly commands: readonly DynamoCommand[] };

const TOKEN_LENGTH_MAX = 36;

/** DynamoDB accepts 36 characters; a token of ours may be longer, because of its prefix. */
const clientRequestToken = (token: string): string =>
  token.length <= TOKEN_LENGTH_MAX
    ? token
    : createHash("sha256").update(token).digest("hex").slice(0, TOKEN_LENGTH_MAX);

const transactWithReplacements = async (
  context: TableContext,
  writes: readonly Write[],
  request: TransactRequest,
): Promise<TransactResult> => {
  const { aws, name } = context;
  const { reply, wasLost } = await retryAwsCall(aws, LOST_RETRIES_MAX, () =>
    transactOnce(context, request),
  );
  if (reply.kind === "ok") return { outcome: "committed" };
  if (reply.kind === "lost" || (reply.kind === "busy" && wasLost)) return { outcome: "ambiguous" };
  if (reply.kind === "busy") throw toAwsError(`TransactWriteItems on ${name}`, reply);

  const reasons = listReasons(reply);
  const failed = reasons.findIndex(({ Code }) => Code === FAILED);
  // A refusal for another reason is not evidence about an earlier attempt.
  if (failed < 0 && wasLost) return { outcome: "ambiguous" };
  if (failed < 0) throw await toWriteError(context, writes, reply);
  const instead = reasons.map(({ Code, Item }, at) =>
    Code === FAILED
      ? buildReplacement(writes[at] as Write, toItem(Item), context.seconds())
      : undefined,
  );
  const refused = reasons.findIndex(({ Code }, at) => Code === FAILED && !instead[at]);
  if (refused >= 0) {
    const by = writes[refused] as Write;
    assertAddable(by, toItem(reasons[refused]?.Item));
    return { outcome: "refused", refusedWrite: by };
  }
  const commands = request.commands.map((command, at) => instead[at] ?? command);
  return transactWithReplacements(context, writes, { token: randomUUID(), commands });
};

const FAILED = "ConditionalCheckFailed";

const transactOnce = async (
  { dynamo, name }: TableContext,
  { token, commands }: TransactRequest,
): Promise<AwsReply<unknown>> => {
  const TransactItems = commands.map(({ action, ...command }) => ({
    [action]: { TableName: name, ...command, ...(command.ConditionExpression && RETURN_OLD_ITEM) },
  }));
  const command = new TransactWriteCommand({
    ClientRequestToken: token,
    TransactItems: TransactItems as never,
  });
  const reply = await toReply(dynamo.send(command));
  if (reply.kind !== "refused") return reply;
  const codes = listReasons(reply).map(({ Code = "None" }) => Code);
  // Another transaction used one of the items, and no known condition failed.
  const isInTheWay = !codes.includes(FAILED) && codes.some(isBusy);
  return isInTheWay ? { kind: "busy", cause: reply.error } : reply;
};

/** One per write, in the order of the writes. */
const listReasons = ({ error }: AwsRefusal) =>
  error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];

/** DynamoDB does not name the field that is not a number; the stored item shows it. */
const toWriteError = async (
  context: TableContext,
  writes: readonly Write[],
  refusal: AwsRefusal,
): Promise<unknown> => {
  for (const write of writes.filter((one) => "update" in one && one.add)) {
    try {
      applyWrite(write, await readItem(context, getItemKey(write)));
    } catch (error) {
      return error;
    }
  }
  return toAwsError("a write", refusal);
};
