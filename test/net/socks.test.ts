import { execFileSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { trySession } from "@mailproof/mail/smtp/connect";
import { isOwnError } from "@mailproof/net/local-resource-errors";
import { createProxyConnect, listProxyExits, listWarmExits } from "@mailproof/net/socks";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { closedPort, createMailServer, HOST, listen } from "../servers/mail-servers.ts";

type Behaviour = {
  /** Asked for as "user:password". */
  readonly login?: string;
  /** RFC 1928's reply code; null: none comes. */
  readonly code?: number | null;
};

/** A small SOCKS5 proxy (RFC 1928, 1929), and whom it was asked for. */
const proxy = async ({ login, code = 0 }: Behaviour = {}) => {
  const asked: string[] = [];
  const port = await listen((socket) => void serve(socket));

  const serve = async (socket: Socket) => {
    await next(socket);
    socket.write(Uint8Array.of(5, login ? 2 : 0));
    if (login) {
      const [, userBytes = 0, ...loginBytes] = await next(socket);
      const credentials = Buffer.from(loginBytes);
      const user = credentials.subarray(0, userBytes).toString();
      const isRight = `${user}:${credentials.subarray(userBytes + 1).toString()}` === login;
      socket.write(Uint8Array.of(1, isRight ? 0 : 1));
      if (!isRight) return;
    }
    const request = await next(socket);
    const target = { host: request.subarray(4, 8).join("."), port: request.readUInt16BE(8) };
    asked.push(`${request[3] === 1 ? "IPv4" : "other"} ${target.host}:${target.port}`);
    if (code === null) return;
    socket.write(Uint8Array.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0));
    if (code !== 0) return;
    const behind = connect(target);
    behind.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => behind.destroy());
    socket.pipe(behind).pipe(socket);
  };
  return { port, asked, url: `socks5://${HOST}:${port}` };
};

const next = (socket: Socket): Promise<Buffer> =>
  new Promise((resolve) => void socket.once("data", resolve));

const now = () => new Date(0);
const OPTIONS = { timeoutMs: 5000, affinityKey: "a.example" };
const SHORT = { ...OPTIONS, timeoutMs: 300 };

const mailHost = async () => ({ ip: HOST, port: await createMailServer(), host: "mail.test" });
const anywhere = { ip: "192.0.2.1", port: 25, host: "mail.test" };

test.each<[string, Behaviour, string]>([
  ["without a password", {}, ""],
  ["with a password", { login: "me:p@ss" }, "me:p%40ss@"],
])("the session runs through a proxy %s", async (_, behaviour, login) => {
  const { port, asked } = await proxy(behaviour);
  const mail = await createMailServer();
  const time = { now: () => new Date(), deadline: new Date(Date.now() + 5000) };

  const { result } = await trySession(
    createProxyConnect([`socks5://${login}${HOST}:${port}`], now),
    [{ host: "mail.test", priority: 0, ips: [HOST] }],
    {
      helo: "probe.example",
      from: "probe@probe.example",
      recipients: ["ann@a.example"],
      randomRecipients: new Map(),
      port: mail,
    },
    time,
  );

  expect(result).toMatchObject({ closedBy: "us", tls: true });
  expect(result.recipients).toMatchObject([{ reply: { code: 250 } }]);
  expect(asked, "by address, never by name").toEqual([`IPv4 ${HOST}:${mail}`]);
});

test.each([
  ["general failure", 1, "unreachable"],
  ["not allowed", 2, "proxy_failed"],
  ["network unreachable", 3, "unreachable"],
  ["host unreachable", 4, "unreachable"],
  ["connection refused", 5, "connect_refused"],
  ["TTL expired", 6, "connect_timeout"],
  ["command not supported", 7, "proxy_failed"],
  ["address type not supported", 8, "unreachable"],
  ["a code that does not exist", 99, "proxy_failed"],
])("a proxy that replies %s causes a fault", async (_, code, fault) => {
  const { url } = await proxy({ code });

  expect(await createProxyConnect([url], now)(anywhere, OPTIONS)).toBe(fault);
});

test("the client does not blame a proxy that waits for the mail host in vain", async () => {
  const { url } = await proxy({ code: null });

  expect(await createProxyConnect([url], now)(anywhere, SHORT)).toBe("connect_timeout");
});

const failing: [string, () => Promise<string>][] = asRows`
  is down | ${async () => `socks5://${HOST}:${await closedPort()}`}
  stays silent | ${async () => `socks5://${HOST}:${await listen(() => undefined)}`}
  hangs up | ${async () => `socks5://${HOST}:${await listen((socket) => socket.end())}`}
  speaks another protocol | ${async () => `socks5://${HOST}:${await listen((socket) => socket.end("HTTP/1.1 400\r\n\r\n"))}`}
  does not know the password | ${async () => `socks5://me:wrong@${HOST}:${(await proxy({ login: "me:right" })).port}`}
  wants a password | ${async () => (await proxy({ login: "me:right" })).url}
`;

test.each(failing)(
  "the client does not ask the mail host without its proxy when the proxy %s",
  async (_, urlOf) => {
    const received: string[] = [];
    const target = { ip: HOST, port: await createMailServer(received), host: "mail.test" };

    expect(await createProxyConnect([await urlOf()], now)(target, SHORT)).toBe("proxy_failed");
    expect(received).toEqual([]);
  },
);

/** Lanes enough that each of a few proxies has some of its own. */
const affinityKeys = Array.from({ length: 40 }, (_, index) => `${index}.example`);

test("each mail domain keeps its proxy, and the domains spread over all proxies", async () => {
  const pool = [await proxy(), await proxy(), await proxy()];
  const target = await mailHost();
  const through = createProxyConnect(
    pool.map(({ url }) => url),
    now,
  );

  const passes = [];
  for (const affinityKey of [...affinityKeys, ...affinityKeys]) {
    const before = pool.map(({ asked }) => asked.length);
    const wire = await through(target, { ...OPTIONS, affinityKey });
    if (typeof wire !== "string") await wire.close();
    passes.push(pool.findIndex(({ asked }, index) => asked.length > (before[index] ?? 0)));
  }

  expect(passes.slice(affinityKeys.length)).toEqual(passes.slice(0, affinityKeys.length));
  expect(new Set(passes)).toEqual(new Set([0, 1, 2]));
});

test("a session leaves by the requested exit, and by no other", async () => {
  const pool = [await proxy(), await proxy()];
  const urls = pool.map(({ url }) => url);
  const [first = "", second = ""] = listProxyExits(urls);
  const target = await mailHost();
  const through = createProxyConnect(urls, now);
  const connect = async (affinityKey: string, exit: string) => {
    const wire = await through(target, { ...OPTIONS, affinityKey, exit });
    if (typeof wire !== "string") await wire.close();
    return typeof wire;
  };

  for (const key of affinityKeys) expect(await connect(key, second)).toBe("object");
  expect(pool.map(({ asked }) => asked.length)).toEqual([0, affinityKeys.length]);
  for (const key of affinityKeys) expect(await connect(key, first)).toBe("object");
  expect(pool.map(({ asked }) => asked.length)).toEqual([affinityKeys.length, affinityKeys.length]);
});

test("an exit's name omits the secrets of its URL, and numbers tell exits of one port apart", () => {
  const urls = ["socks5://me:secret@p.example:1080", "socks5://you:secret@p.example", "socks5://q"];

  expect(listProxyExits(urls)).toEqual(["p.example:1080", "p.example:1080#2", "q:1080"]);
});

test("a mark in its URL makes an exit warm, and an unknown mark stops the start", () => {
  expect(listWarmExits(["socks5://p:1080#warm", "socks5://q:1080"])).toEqual(["p:1080"]);
  expect(() => listWarmExits(["socks5://p:1080#wram"])).toThrow("#warm");
});

const given = async () => {
  let ms = 0;
  let dialled = 0;
  const broken = await listen((socket) => {
    dialled += 1;
    socket.end();
  });
  const sound = await proxy();
  const through = createProxyConnect([`socks5://${HOST}:${broken}`, sound.url], () => new Date(ms));
  const target = await mailHost();
  const connectAll = async () => {
    for (const affinityKey of affinityKeys) {
      const wire = await through(target, { ...OPTIONS, affinityKey });
      expect(typeof wire, "the other proxy takes over").toBe("object");
      if (typeof wire !== "string") await wire.close();
    }
    return dialled;
  };
  return { connectAll, passMs: (count: number) => (ms += count) };
};

test("the client replaces a failed proxy at once, and lets it rest", async () => {
  const { connectAll } = await given();

  expect(await connectAll()).toBe(1);
});

test("the client tries a failed proxy again a minute later", async () => {
  const { connectAll, passMs } = await given();
  await connectAll();
  passMs(60_000);

  expect(await connectAll()).toBe(2);
});

test("the client uses resting proxies when all of them rest", async () => {
  let isUp = false;
  const { port } = await proxy();
  const gate = await listen((socket) => {
    if (!isUp) return void socket.end();
    const behind = connect({ host: HOST, port });
    behind.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.pipe(behind).pipe(socket);
  });
  const through = createProxyConnect([`socks5://${HOST}:${gate}`], now);
  const target = await mailHost();
  expect(await through(target, OPTIONS)).toBe("proxy_failed");
  isUp = true;

  const wire = await through(target, OPTIONS);

  expect(wire).toMatchObject({ send: expect.any(Function) });
  if (typeof wire !== "string") await wire.close();
});

test.each(["", "localhost"])("the client never asks a proxy to look up %j", async (ip) => {
  const { url, asked } = await proxy();

  expect(await createProxyConnect([url], now)({ ...anywhere, ip }, OPTIONS)).toBe("no_address");
  expect(asked).toEqual([]);
});

test.each(["http://me:secret@a.example:1080", "me:secret@a.example:1080", "socks5://"])(
  "the settings refuse %s as a proxy, in a message that does not repeat it",
  (url) => {
    expect(() => createProxyConnect([url], now)).toThrow(/^a proxy is written as socks5:/);
  },
);

/** What a process comes to that may open so many files, and has opened them all. */
const whenStarved = (limit: number): unknown => {
  const command = `ulimit -n ${limit}; exec "$0" --no-warnings test/net/starved.ts`;
  return JSON.parse(execFileSync("bash", ["-c", command, process.execPath]).toString());
};

test("a process without descriptors reports its own failure in each kind of look-up", () => {
  expect(whenStarved(64)).toEqual({
    dns: "internal",
    oddName: "internal",
    smtp: "internal",
    proxy: "internal",
    https: { kind: "failed", why: "internal" },
    withoutDns: "unknown internal",
    withDns: "unknown internal",
    counted: true,
    dnsAfterwards: "servfail",
  });
});

test.each(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL"])(
  "the client recognizes %s as an error of this machine, alone, as a cause and among others",
  (code) => {
    const error = Object.assign(new Error(code), { code });

    expect(isOwnError(error)).toBe(true);
    expect(isOwnError(new Error("the file could not be read", { cause: error }))).toBe(true);
    expect(isOwnError(new AggregateError([new Error("another"), error]))).toBe(true);
  },
);

test.each(["ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "ENOTFOUND"])(
  "the client does not recognize %s as an error of this machine",
  (code) => {
    expect(isOwnError(Object.assign(new Error(code), { code }))).toBe(false);
  },
);
