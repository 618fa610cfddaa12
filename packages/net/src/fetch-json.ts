export const TIMEOUT_MS = 5_000;
const BYTES_MAX = 256_000;

/** Fetches a small document from a URL that the operator has set. Undefined when the server answers 404. */
export const fetchJson = async (url: string): Promise<unknown> => {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.status === 404) {
    await response.body?.cancel();
    return undefined;
  }
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return JSON.parse(await readText(url, response)) as unknown;
};

/** Throws for a body over 256,000 bytes. */
export const readText = async (url: string, { body }: Response): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > BYTES_MAX) throw new Error(`${url} is over ${BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};
