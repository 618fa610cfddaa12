import { isTakenBack } from "@mailproof/core/smtp-pool/witnesses";
import { expect, test } from "vitest";
import {
  accept,
  askMany,
  countResults,
  GOOGLE,
  givenProviders,
  HOUR_MS,
  OUTLOOK,
  type ServerReply,
} from "./refusing-providers.ts";

// Goal: a mail provider that refuses existing mailboxes as unknown makes none of them invalid.
// Method: a server in virtual time that knows some people and the witness, and may refuse everybody as unknown.

const WITNESS = "witness@gmail.com";
const GONE = "550 5.1.1 The email account that you tried to reach does not exist.";

/** `isLying`: it refuses everybody. `isKnown`: by the number of the person. */
const answerFor =
  (isLying: (exit: string) => boolean, isKnown: (person: number) => boolean): ServerReply =>
  (line) => {
    const [, local = "", n] = /^RCPT TO:<((?:person(\d+)|[^@]*))@/.exec(line.line) ?? [];
    if (!line.line.startsWith("RCPT")) return accept(line);
    if (isLying(line.exit)) return GONE;
    if (local === "witness") return "250 2.1.5 OK";
    return n !== undefined && isKnown(Number(n)) ? "250 2.1.5 OK" : GONE;
  };
const never = () => false;
const always = () => true;

const countWitnesses = (asked: readonly string[]): number =>
  asked.filter((line) => line.includes(WITNESS)).length;

test("every recipient becomes unknown when the provider refuses the witness, too", async () => {
  const { probe, asked, circuits } = givenProviders(answerFor(always, always), {
    witnesses: [WITNESS],
  });

  const results = await askMany(probe, 40, GOOGLE);

  expect(countResults(results)).toEqual({ "unknown witness_refused": 40 });
  expect(countWitnesses(asked)).toBe(1);
  expect(circuits()).toMatchObject([{ openings: 1, refusal: { code: 550 } }]);
});

test("forty refused recipients become invalid when the operator configured no witness", async () => {
  const { probe } = givenProviders(answerFor(always, always));

  expect(countResults(await askMany(probe, 40, GOOGLE))).toEqual({
    "invalid mailbox_not_found": 40,
  });
});

test("another exit verifies the recipients when the provider refuses the witness at the first exit", async () => {
  const exits = ["192.0.2.8:1080", "192.0.2.9:1080"];
  const { probe, sessions } = givenProviders(
    answerFor((exit) => exit === exits[0], always),
    { witnesses: [WITNESS], exits },
  );

  const results = [
    ...(await askMany(probe, 40, GOOGLE)),
    ...(await askMany(probe, 40, GOOGLE, { from: 40 })),
  ];

  expect(countResults(results)).toEqual({ "valid accepted": 80 });
  expect(sessions.filter(({ exit }) => exit === exits[0]).length).toBeLessThanOrEqual(3);
});

test("the engine asks about an accepted witness once in 200 recipients", async () => {
  const { probe, asked } = givenProviders(answerFor(never, never), { witnesses: [WITNESS] });

  for (let from = 0; from < 400; from += 20) await askMany(probe, 20, GOOGLE, { from });

  expect(countWitnesses(asked)).toBe(2);
});

test("the engine asks about no witness while refusals are as frequent as before", async () => {
  const { probe, asked } = givenProviders(
    answerFor(never, (person) => person % 10 !== 0),
    { witnesses: [WITNESS] },
  );

  for (let from = 0; from < 1_000; from += 20) await askMany(probe, 20, GOOGLE, { from });

  expect(countWitnesses(asked)).toBe(0);
});

test("the engine detects within the session a provider that begins to refuse every recipient", async () => {
  let isLying = false;
  const { probe, asked } = givenProviders(
    answerFor(
      () => isLying,
      (person) => person % 10 !== 0,
    ),
    { witnesses: [WITNESS] },
  );
  for (let from = 0; from < 400; from += 20) await askMany(probe, 20, GOOGLE, { from });
  isLying = true;

  const results = await askMany(probe, 40, GOOGLE, { from: 400 });

  expect(countResults(results)).toEqual({ "unknown witness_refused": 40 });
  expect(countWitnesses(asked)).toBe(1);
});

test("the circuit stays open until the provider accepts the witness", async () => {
  let isLying = true;
  const { probe, world } = givenProviders(
    answerFor(
      () => isLying,
      (person) => person > 100,
    ),
    { witnesses: [WITNESS] },
  );
  await askMany(probe, 5, GOOGLE);
  await world.sleep(1.1 * HOUR_MS);
  const still = await askMany(probe, 5, GOOGLE);
  isLying = false;
  await world.sleep(2.1 * HOUR_MS);

  const after = await askMany(probe, 5, GOOGLE);

  expect(countResults(still)).toEqual({ "unknown witness_refused": 5 });
  expect(countResults(after)).toEqual({ "invalid mailbox_not_found": 5 });
});

test("the engine asks about a witness at its own provider only", async () => {
  const { probe, asked } = givenProviders(answerFor(never, never), { witnesses: [WITNESS] });

  await askMany(probe, 5, OUTLOOK);

  expect(countWitnesses(asked)).toBe(0);
});

test("a refusal counts until the provider refuses a witness, which then withdraws the refusal", async () => {
  let isLying = false;
  const { probe, table, world } = givenProviders(
    answerFor(() => isLying, never),
    { witnesses: [WITNESS] },
  );
  await askMany(probe, 1, GOOGLE);
  const [before] = await askMany(probe, 1, GOOGLE, { from: 1 });
  const verifiedAt = world.now().toISOString();
  const isBack = () => isTakenBack(table, { unproven: before?.unproven, verifiedAt });
  const wasBack = await isBack();
  isLying = true;
  await world.sleep(1_000);
  for (let from = 10; from < 300; from += 20) await askMany(probe, 20, GOOGLE, { from });

  expect(wasBack).toBe(false);
  expect(await isBack()).toBe(true);
});
