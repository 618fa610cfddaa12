export type Api = (route: string, body?: unknown) => Promise<any>;

/** The service as a caller has it. A failure is an error with its text. */
export const createApi =
  (base: string, key: string): Api =>
  async (route, body) => {
    const [method = "", path = ""] = route.split(" ");
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, ...failure } = (await response.json()) as { data: unknown };
    if (!response.ok) throw new Error(JSON.stringify(failure));
    return data;
  };

/** Uploads a list, and returns what `process` asks for. */
export const uploadList = async (
  api: Api,
  body: string | AsyncIterable<Uint8Array>,
): Promise<string> => {
  const to = await api("POST /v1/verify/file", { action: "get_upload_url", file_name: "list.csv" });
  const content = typeof body === "string" ? body : ReadableStream.from(body);
  const sent = { method: "PUT", body: content, duplex: "half" } as RequestInit;
  const put = await fetch(to.upload_url, sent);
  if (!put.ok) throw new Error(`the upload was answered ${put.status}`);
  return to.file_key;
};

/** Of one account, the most that it may send in a minute: three keys, each below its own limit. */
const KEYS = 3;

export const createKeys = (api: Api): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: KEYS }, async (_, n) => {
      const { key } = await api("POST /v1/api-keys", { name: `bench ${n}`, mode: "live" });
      return key;
    }),
  );
