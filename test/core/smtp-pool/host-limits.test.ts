import { DEFAULT_LIMITS } from "@mailproof/core/mail/mail-provider-table";
import type { SmtpConnect, SmtpWire } from "@mailproof/core/mail/smtp/wire";
import { limitHostConnections } from "@mailproof/core/smtp-pool/host-limits";
import { expect, test } from "vitest";

const AT_ONCE = DEFAULT_LIMITS.connections;
const OPTIONS = { timeoutMs: 1000, affinityKey: "" };
const at = (host: string) => ({ ip: "192.0.2.1", port: 25, host });
const settled = () => new Promise((resolve) => setImmediate(resolve));
const noTime = () => Promise.resolve();

const getHosts = () => {
  const open = new Map<string, number>();
  const count = (host: string, by: number) => open.set(host, (open.get(host) ?? 0) + by);
  const connect: SmtpConnect = async ({ host }) => {
    count(host, 1);
    const silent: Omit<SmtpWire, "close"> = {
      send: () => {},
      receive: async () => "closed",
      startTls: async () => null,
    };
    return { ...silent, close: async () => void count(host, -1) };
  };
  return { open, connect };
};

const callAll = (connect: SmtpConnect, host: string, times: number): SmtpWire[] => {
  const wires: SmtpWire[] = [];
  for (let call = 0; call < times; call++)
    void connect(at(host), OPTIONS).then((wire) => typeof wire === "object" && wires.push(wire));
  return wires;
};

test("a mail host is never called more often at once than it is to be", async () => {
  const { open, connect } = getHosts();
  const wires = callAll(limitHostConnections(connect, noTime), "mx.example", AT_ONCE + 5);
  await settled();
  expect(open.get("mx.example")).toBe(AT_ONCE);

  await Promise.all(wires.splice(0, 3).map((wire) => wire.close()));
  await settled();

  expect(open.get("mx.example")).toBe(AT_ONCE);
  expect(wires).toHaveLength(AT_ONCE);
});

test("one host's queue is not another's", async () => {
  const { open, connect } = getHosts();
  const limited = limitHostConnections(connect, noTime);
  callAll(limited, "mx.example", AT_ONCE + 1);
  callAll(limited, "mx.elsewhere.example", 1);
  await settled();

  expect(open.get("mx.elsewhere.example")).toBe(1);
});

test("a connection that never stood leaves its place at once", async () => {
  let calls = 0;
  const refused: SmtpConnect = async () => {
    calls += 1;
    return "connect_refused";
  };
  callAll(limitHostConnections(refused, noTime), "mx.example", AT_ONCE * 3);
  await settled();

  expect(calls).toBe(AT_ONCE * 3);
});

test("to hang up twice frees one place", async () => {
  const { connect } = getHosts();
  const wires = callAll(limitHostConnections(connect, noTime), "mx.example", AT_ONCE + 2);
  await settled();

  await Promise.all([wires[0]?.close(), wires[0]?.close()]);
  await settled();

  expect(wires).toHaveLength(AT_ONCE + 1);
});

test("a place is free again only after the server had a moment to notice", async () => {
  const { open, connect } = getHosts();
  const { promise: limitReset, resolve: advance } = Promise.withResolvers<void>();
  const wires = callAll(
    limitHostConnections(connect, () => limitReset),
    "mx.example",
    AT_ONCE + 1,
  );
  await settled();
  await wires[0]?.close();
  await settled();
  expect(open.get("mx.example")).toBe(AT_ONCE - 1);

  advance();
  await settled();

  expect(open.get("mx.example")).toBe(AT_ONCE);
});
