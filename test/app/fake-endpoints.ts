import { endpoint, type Streamed } from "@mailproof/api/http/endpoint";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";

type Piece = string | Uint8Array;

/** Takes a form or JSON, and tells what it got: what a route that reads files has to rely on. */
export const fakeFormEndpoint = endpoint({
  id: "sampleForm",
  route: "POST /v1/sample/form",
  tag: "Service",
  tool: null,
  summary: "Tell what was sent.",
  price: null,
  access: "verification:write",
  needs: [],
  answers: [202],
  errors: ["INVALID_REQUEST"],
  form: "streamed",
  body: v.strictObject({ action: v.string() }),
  output: v.unknown(),

  async handle(_world, _caller, { body, form }) {
    const headers = { "retry-after": "7" };
    if (!form) return { status: 202, headers, data: { action: body.action } };
    const parts = [];
    for await (const { name, fileName, content } of form)
      parts.push({
        name,
        fileName,
        text: Buffer.concat(await Array.fromAsync(content)).toString(),
      });
    return { status: 202, headers, data: { parts } };
  },
});

/** Answers with this data. */
export const createFakeDataEndpoint = (data: unknown) =>
  endpoint({
    id: "sampleData",
    route: "GET /v1/sample/data",
    tag: "Service",
    tool: null,
    summary: "Answer.",
    price: null,
    access: "verification:read",
    needs: [],
    answers: [200],
    errors: [],
    output: v.unknown(),
    handle: async () => ({ status: 200, data }),
  });

/** Streams what it was made with. */
export const createFakeStreamEndpoint = (
  stream: () => AsyncIterable<Piece>,
  elsewhere: Streamed["elsewhere"] = async () => "https://blobs.example/elsewhere",
) =>
  endpoint({
    id: "sampleStream",
    route: "GET /v1/sample/stream",
    tag: "Service",
    tool: null,
    summary: "Stream.",
    price: null,
    access: "verification:read",
    needs: [],
    answers: [200],
    errors: [],
    output: v.unknown(),

    async handle() {
      const headers = {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="results.csv"',
      };
      return { kind: "stream", status: 200, headers, stream: stream(), elsewhere };
    },
  });

/** What was asked of a source. */
export type ConsumedPieces = { pieces: number; readonly closed: Promise<void> };

/** Yields this many pieces, and counts. */
export const createCountedPieces = (count: number, piece: Piece) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const consumed: ConsumedPieces = { pieces: 0, closed };
  async function* pieces(): AsyncGenerator<Piece> {
    try {
      while (consumed.pieces < count) {
        consumed.pieces++;
        yield piece;
      }
    } finally {
      resolve();
    }
  }
  return { asked: consumed, pieces };
};

export async function* failAfter(...pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
  throw new Failure("UNAVAILABLE", "nothing_charged", "The table cannot be read.");
}
