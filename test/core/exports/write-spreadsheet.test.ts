import { SPREADSHEET_ROWS_MAX, writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { expect, test } from "vitest";

test("a reader that stops closes what the rows come from", async () => {
  const closed = Promise.withResolvers<void>();
  async function* createEndlessRows(): AsyncGenerator<readonly string[]> {
    try {
      for (let row = 0; ; row++) yield [`row ${row}`, String(Math.sin(row))];
    } finally {
      closed.resolve();
    }
  }

  let bytes = 0;
  for await (const piece of writeSpreadsheet(createEndlessRows())) {
    bytes += piece.length;
    if (bytes > 10_000) break;
  }

  await expect(closed.promise).resolves.toBeUndefined();
});

test("rows that fail end the file with their error", async () => {
  async function* createFailingRows(): AsyncGenerator<readonly string[]> {
    yield ["email"];
    throw new Error("a row is missing");
  }

  const reading = Array.fromAsync(writeSpreadsheet(createFailingRows()));

  await expect(reading).rejects.toThrow("a row is missing");
});

test("more rows than a spreadsheet has are an error and no file", async () => {
  async function* createTooManyRows(): AsyncGenerator<readonly string[]> {
    for (let row = 0; row <= SPREADSHEET_ROWS_MAX; row++) yield [];
  }
  const read = async () => {
    for await (const piece of writeSpreadsheet(createTooManyRows())) void piece;
  };

  await expect(read()).rejects.toThrow("A spreadsheet has at most 1048576 rows");
});
