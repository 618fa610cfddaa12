import type { Receiver } from "@mailproof/lab/receivers/receiver";
import { createReceiver } from "@mailproof/lab/receivers/receiver-host";
import { RECEIVERS } from "@mailproof/lab/receivers/receivers";
import { expect, test } from "vitest";

const OK = "250 Ok";
const RECEIVER: Receiver = {
  id: "strict",
  title: "A strict receiver",
  sources: [],
  hosts: ["mx.strict.example"],
  mailboxes: { existing: OK, unknown: "550 {local} of {domain} is unknown", full: "552 Full" },
  limits: {
    sessionsAtOnce: { most: 2, reply: "421 Too many sessions" },
    transactionsPerSession: { most: 2, reply: "421 Too many messages" },
    recipientsPerTransaction: { most: 3, reply: "452 Too many recipients" },
    domainsPerTransaction: { most: 1, reply: "451 One domain" },
    refusalsPerSession: { most: 2, reply: "421 Too many errors" },
  },
  blocks: [
    { stage: "greeting", minutes: 60, reply: "554 {client} is listed" },
    { stage: "mail", minutes: 10, afterUnknown: 3, reply: "550 Too many unknown recipients" },
  ],
  domains: [
    { name: "one.example" },
    { name: "two.example", mailboxes: { unknown: OK } },
    { name: "late.example", greylist: { minutes: 5, reply: "450 Later" } },
  ],
  scenarios: [],
};

const setup = (isBlocked = false) => {
  let nowMs = 0;
  const receiver = createReceiver(RECEIVER, () => new Date(nowMs), isBlocked);
  const open = (client = "192.0.2.1") => {
    const { behavior, onClose } = receiver.visit("mx.strict.example", client);
    const ask = (address: string, earlier: readonly string[] = [], waitedMs = 0) => {
      const [request, ...before] = [address, ...earlier].map((one) => {
        const [local = "", domain = ""] = one.split("@");
        return { local, domain };
      });
      const { local = "", domain = "" } = request ?? {};
      const reaction = behavior.rcpt?.({
        local,
        domain,
        nth: 1,
        earlier: before,
        waitedMs: () => waitedMs,
      });
      return typeof reaction === "object" ? reaction.reply : reaction;
    };
    const mail = () => (typeof behavior.mail === "function" ? behavior.mail() : behavior.mail);
    return { greeting: behavior.greeting, ask, mail, onClose };
  };
  const wait = (minutes: number) => {
    nowMs += minutes * 60_000;
  };
  return { open, wait, counts: receiver.counts };
};

test("a simulated mailbox answers by its condition, and a customer's domain by its own rule", () => {
  const { open } = setup();
  const askAlone = (address: string) => open(address).ask(address);

  expect(askAlone("ada.lovelace@one.example")).toBe(OK);
  expect(askAlone("full.mailbox@one.example")).toBe("552 Full");
  expect(askAlone("unknown.me@one.example")).toBe("550 unknown.me of one.example is unknown");
  expect(askAlone("unknown.me@two.example")).toBe(OK);
  expect(askAlone("ada@elsewhere.example")).toMatch(/^554 .*Relay/);
});

test("a simulated mail host accepts recipients of one domain up to a limit", () => {
  const { open, counts } = setup();
  const { ask } = open();
  const two = ["ada@one.example", "alan@one.example"];

  expect(ask("grace@one.example", two)).toBe(OK);
  expect(ask("grace@two.example", two)).toBe("451 One domain");
  expect(ask("grace@one.example", [...two, "jane@one.example"])).toBe("452 Too many recipients");
  expect(counts()).toMatchObject({ recipients: 3, overLimit: 2 });
});

test("a simulated mail host ends a session after too many messages or refusals", () => {
  const { open } = setup();
  const { ask, mail } = open();
  ask("unknown.one@one.example");
  ask("unknown.two@one.example");

  expect(ask("ada@one.example")).toBe("421 Too many errors");
  expect([mail(), mail(), mail()]).toEqual([undefined, undefined, "421 Too many messages"]);
});

test("a simulated mail host limits a client's simultaneous sessions, apart from other clients", () => {
  const { open } = setup();
  const first = open();
  open();

  expect(open().greeting).toBe("421 Too many sessions");
  expect(open("192.0.2.2").greeting).toBeUndefined();
  first.onClose();
  expect(open().greeting).toBe("421 Too many sessions");
});

test("a simulated mail host blocks a client after too many unknown recipients, and no other client", () => {
  const { open, wait, counts } = setup();
  for (const name of ["one", "two", "three"]) {
    const { ask, onClose } = open();
    ask(`unknown.${name}@one.example`);
    onClose();
  }

  expect(open().mail()).toBe("550 Too many unknown recipients");
  expect(open("192.0.2.2").mail()).toBeUndefined();
  expect(counts()).toMatchObject({ unknownRecipients: 3, sessionsIntoBlock: 1 });
  wait(10);
  expect(open().mail()).toBeUndefined();
});

test("a simulated mail host refuses a listed client at the greeting until its entry expires", () => {
  const { open, wait } = setup(true);

  expect(open().greeting).toBe("554 192.0.2.1 is listed");
  wait(60);
  expect(open().greeting).toBeUndefined();
});

test("a simulated mail host greylists one pair of sender and recipient", () => {
  const { ask } = setup().open();

  expect(ask("ada@late.example")).toBe("450 Later");
  expect(ask("ada@late.example", [], 5 * 60_000)).toBe(OK);
});

test("every receiver has its own name, source, hosts and scenarios", () => {
  const domains = RECEIVERS.flatMap((one) => one.domains.map(({ name }) => name));

  const incomplete = RECEIVERS.filter(
    ({ sources, scenarios, hosts, domains: own }) =>
      sources.length === 0 ||
      scenarios.length === 0 ||
      own.some((one) => (one.hosts ?? hosts).length === 0),
  );

  expect(new Set(RECEIVERS.map(({ id }) => id)).size).toBe(RECEIVERS.length);
  expect(new Set(domains).size).toBe(domains.length);
  expect(incomplete).toEqual([]);
});
