import { type ReadArc, readArc } from "./arc/verify.ts";
import { analyseBody, type MessageBody } from "./content/body.ts";
import { type ReadUnsubscribe, readUnsubscribe } from "./content/unsubscribe.ts";
import { createBodyHasher } from "./dkim/canonicalise.ts";
import { type ReadDkim, readDkim } from "./dkim/verify.ts";
import { type HeaderSummary, readHeader } from "./header-summary.ts";
import { type ParsedMessage, parseMessage } from "./parse/message.ts";

/** The parts of a message that a report needs, before any DNS question. They hold nothing of the body but hosts of links. */
export type ReadMessage = Omit<ParsedMessage, "fields" | "body" | "tree"> & {
  readonly fieldNames: ReadonlySet<string>;
  readonly header: HeaderSummary;
  readonly body: MessageBody;
  readonly unsubscribe: ReadUnsubscribe;
  readonly dkim: readonly ReadDkim[];
  readonly arc: ReadArc;
};

export const readMessage = (raw: Uint8Array): ReadMessage => {
  const { fields, body, tree, ...lines } = parseMessage(raw);
  const hashBody = createBodyHasher(body);
  return {
    ...lines,
    fieldNames: new Set(fields.map(({ key }) => key)),
    header: readHeader(fields),
    body: analyseBody({ tree }),
    unsubscribe: readUnsubscribe(fields),
    dkim: readDkim(fields, hashBody),
    arc: readArc(fields, hashBody),
  };
};
