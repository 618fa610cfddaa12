import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeForm, type FormPart, readParts, splitAt } from "../app/form.ts";

const RUNS = { seed: 20261121, numRuns: 500 };

/** Names as people give them. A percent is left out: what it means is a matter of who sent it. */
const name = fc
  .array(fc.constantFrom("a", "é", "中", "😀", '"', " ", ";", "=", "'", "\r\n", "."))
  .map((letters) => letters.join(""));

/** Bytes, and more often than chance would have it what a boundary is made of. */
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom("\r\n", "\r", "\n", "-", "--", "\r\n--", "\r\n------formdata-undici-0"),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => Buffer.from(pieces.join(""), "latin1"));

// fetch leaves out a file's name when it is empty, and writes the line ends of a field as CRLF.
const fileName = name.map((text) => `${text}.csv`);
const file = fc.record({ name, fileName, content });
const field = fc.record({ name, content: fc.stringMatching(/^[ -~]{0,40}$/) });
const parts = fc.array(fc.oneof(file, field), { maxLength: 20 });
const cuts = fc.array(fc.nat(5_000), { maxLength: 40 });

const asRead = (part: FormPart) => ({
  name: part.name,
  fileName: part.fileName ?? null,
  content: Buffer.from(part.content).toString("latin1"),
});

test("what fetch sends as a form is read back byte for byte, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(parts, cuts, async (sent, at) => {
      const { contentType, bytes } = await encodeForm(sent);

      expect(await readParts(contentType, bytes, at)).toEqual(sent.map(asRead));
    }),
    RUNS,
  );
});

test("a form that is broken off anywhere is refused, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(parts, cuts, fc.nat(), async (sent, at, length) => {
      const { contentType, bytes } = await encodeForm(sent);
      // The last boundary may lack its line end, and nothing before it.
      const broken = bytes.subarray(0, length % (bytes.length - "\r\n".length));

      await expect(readParts(contentType, broken, at)).rejects.toMatchObject({
        code: "INVALID_REQUEST",
      });
    }),
    RUNS,
  );
});

test("nonsense is read the same wherever it is cut", async () => {
  const nonsense = fc
    .array(
      fc.constantFrom(
        "--b",
        "--b--",
        "\r\n--b\r\n",
        "\r\n",
        "\r",
        "\n",
        "-",
        " ",
        "x",
        "\0",
        'Content-Disposition: form-data; name="a"',
        "; filename=f",
        "\r\n\r\n",
      ),
      { maxLength: 30 },
    )
    .map((pieces) => Buffer.from(pieces.join("")));
  const outcome = (bytes: Uint8Array, at: readonly number[]) =>
    readParts("multipart/form-data; boundary=b", bytes, at).catch((error: Error) => error.message);

  await fc.assert(
    fc.asyncProperty(nonsense, cuts, async (bytes, at) => {
      expect(await outcome(bytes, at)).toEqual(await outcome(bytes, []));
    }),
    { ...RUNS, numRuns: 2_000 },
  );
});

test("the helper that cuts loses nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), cuts, async (bytes, at) => {
      const pieces = await Array.fromAsync(splitAt(bytes, at));

      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    }),
    RUNS,
  );
});
