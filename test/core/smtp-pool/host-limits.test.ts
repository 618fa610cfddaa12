import { limitHostConnections } from "@mailproof/core/smtp-pool/connect";
import { DEFAULT_LIMITS } from "@mailproof/mail/mail-provider-table";
import type { SmtpConnect, SmtpWire } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";

const AT_ONCE = DEFAULT_LIMITS.connections;
const OPTIONS = { timeoutMs: 1000, affinityKey: "" };
const at = (host: string) => ({ ip: "192.0.2.1", port: 25, host });
const waitForImmediate = () => new Promise((resolve) => setImmediate(resolve));
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

test("a mail host never gets more concurrent calls than its limit", async () => {
  const { open, connect } = getHosts();
  const wires = callAll(limitHostConnections(connect, noTime), "mx.example", AT_ONCE + 5);
  await waitForImmediate();
  expect(open.get("mx.example")).toBe(AT_ONCE);

  await Promise.all(wires.splice(0, 3).map((wire) => wire.close()));
  await waitForImmediate();

  expect(open.get("mx.example")).toBe(AT_ONCE);
  expect(wires).toHaveLength(AT_ONCE);
});

test("a full host does not delay the calls to another host", async () => {
  const { open, connect } = getHosts();
  const limited = limitHostConnections(connect, noTime);
  callAll(limited, "mx.example", AT_ONCE + 1);
  callAll(limited, "mx.elsewhere.example", 1);
  await waitForImmediate();

  expect(open.get("mx.elsewhere.example")).toBe(1);
});

test("a failed connection releases its slot at once", async () => {
  let calls = 0;
  const refused: SmtpConnect = async () => {
    calls += 1;
    return "connect_refused";
  };
  callAll(limitHostConnections(refused, noTime), "mx.example", AT_ONCE * 3);
  await waitForImmediate();

  expect(calls).toBe(AT_ONCE * 3);
});

test("a connection that closes twice releases one slot", async () => {
  const { connect } = getHosts();
  const wires = callAll(limitHostConnections(connect, noTime), "mx.example", AT_ONCE + 2);
  await waitForImmediate();

  await Promise.all([wires[0]?.close(), wires[0]?.close()]);
  await waitForImmediate();

  expect(wires).toHaveLength(AT_ONCE + 1);
});

test("a slot becomes free after a pause in which the server notices the close", async () => {
  const { open, connect } = getHosts();
  const { promise: limitReset, resolve: advance } = Promise.withResolvers<void>();
  const wires = callAll(
    limitHostConnections(connect, () => limitReset),
    "mx.example",
    AT_ONCE + 1,
  );
  await waitForImmediate();
  await wires[0]?.close();
  await waitForImmediate();
  expect(open.get("mx.example")).toBe(AT_ONCE - 1);

  advance();
  await waitForImmediate();

  expect(open.get("mx.example")).toBe(AT_ONCE);
});
