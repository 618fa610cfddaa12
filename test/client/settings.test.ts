import { createClient } from "@mailproof/client/client";
import type { ClientOptions } from "@mailproof/client/options";
import { afterEach, expect, test, vi } from "vitest";
import { createDataResponse, whenAnswered } from "./fake-fetch.ts";

afterEach(() => vi.unstubAllEnvs());

test.each([
  "api.example.com",
  "api.example.com:8787",
  "localhost:8787",
  "//api.example.com",
  "/v1",
  "ftp://api.example.com",
  "https://",
  "https://ada:secret@api.example.com",
  "https://api.example.com?key=1",
  "https://api.example.com/#top",
  "",
])("createClient throws a TypeError for the base URL %j before any request", (baseUrl) => {
  expect(() => createClient({ baseUrl, key: "k" })).toThrow(
    new TypeError(
      "baseUrl must be an http or https URL such as https://api.example.com, without user name, query or fragment.",
    ),
  );
});

test.each(["", " ", "mp_live_abc\n", "ключ"])(
  "createClient throws a TypeError for the key %j without repeating the key",
  (key) => {
    expect(() => createClient({ baseUrl: "https://api.example.com", key })).toThrow(
      new TypeError("key must be printable ASCII characters without spaces."),
    );
  },
);

test.each(["", "a b", "a\nb", "ключ"])(
  "a client call throws a TypeError for the Idempotency-Key %j and sends nothing",
  async (idempotencyKey) => {
    const { client, sent } = whenAnswered([]);

    const call = client.verifyEmail({ email: "a@x.com" }, { idempotencyKey });

    await expect(call).rejects.toThrow(
      new TypeError("idempotencyKey must be printable ASCII characters without spaces."),
    );
    expect(sent).toEqual([]);
  },
);

/** Where a client made with these options sends a request, and with which key. */
const whenRequested = async (options?: Partial<ClientOptions>) => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (url: string, { headers }: RequestInit) => {
    sent.push([url, new Headers(headers).get("authorization")]);
    return createDataResponse({});
  });
  try {
    await createClient(options).getAccount();
  } finally {
    vi.unstubAllGlobals();
  }
  return sent;
};

test("the client reads MAILPROOF_API and MAILPROOF_KEY when the options are absent", async () => {
  vi.stubEnv("MAILPROOF_API", "https://env.example.com");
  vi.stubEnv("MAILPROOF_KEY", "from_env");
  const [baseUrl, key] = ["https://own.example.com", "own"];

  const sent = [
    ...(await whenRequested()),
    ...(await whenRequested({ baseUrl })),
    ...(await whenRequested({ key })),
    ...(await whenRequested({ baseUrl, key })),
  ];

  expect(sent).toEqual([
    ["https://env.example.com/v1/account", "Bearer from_env"],
    ["https://own.example.com/v1/account", "Bearer from_env"],
    ["https://env.example.com/v1/account", "Bearer own"],
    ["https://own.example.com/v1/account", "Bearer own"],
  ]);
});

test("a client without an option or a setting throws a TypeError that contains both names", () => {
  vi.stubEnv("MAILPROOF_API", undefined);
  vi.stubEnv("MAILPROOF_KEY", undefined);

  expect(() => createClient({ key: "k" })).toThrow(
    new TypeError("baseUrl is missing: pass it, or set MAILPROOF_API."),
  );
  expect(() => createClient({ baseUrl: "https://api.example.com" })).toThrow(
    new TypeError("key is missing: pass it, or set MAILPROOF_KEY."),
  );
});

test("the client reads no settings on a host without a process environment, such as a browser", () => {
  vi.stubGlobal("process", undefined);
  try {
    expect(() => createClient({ key: "k" })).toThrow("baseUrl is missing");
  } finally {
    vi.unstubAllGlobals();
  }
});
