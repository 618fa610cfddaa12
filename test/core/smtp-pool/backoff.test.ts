import { getNextBackoff } from "@mailproof/core/smtp-pool/backoff";
import { localSlots } from "@mailproof/core/smtp-pool/slots/slots";
import { expect, test } from "vitest";
import { askAll, givenCluster, kind } from "./cluster.ts";

// What a server says of us and what it says of a recipient are told apart, or one greylisted mailbox would close
// its server for everybody.

const getBackoff = async (command: string, reply: string): Promise<number> => {
  const { engines, sessions } = givenCluster(
    1,
    (line, session) =>
      session === 1 && line.startsWith(command) && (command !== "" || line === "")
        ? reply
        : kind(line, session),
    { slots: () => localSlots },
  );
  await askAll(engines, 1);
  await askAll(engines, 1);
  const [first, second] = sessions;
  return Math.floor(((second?.atMs ?? 0) - (first?.atMs ?? 0)) / 1_000);
};

test.each<[string, string, string, number]>([
  ["a 421 to a recipient", "RCPT", "421 try later", 30],
  ["a 421 greeting", "", "421 4.3.2 not now", 30],
  ["a 4.7.x greeting", "", "450 4.7.1 come back later", 30],
  ["a 4.7.x to EHLO", "EHLO", "450 4.7.1 come back later", 30],
  ["a 4.7.x to MAIL", "MAIL", "451 4.7.500 Server busy", 30],
  ["a 4.7.1 to a recipient, as greylisting is said", "RCPT", "450 4.7.1 greylisted", 0],
  ["another deferral of MAIL", "MAIL", "451 4.3.0 a fault of ours", 0],
  ["a refusal for good", "", "554 5.7.1 go away", 0],
])("%s asks for a rest of so many seconds", async (_, command, reply, seconds) => {
  expect(await getBackoff(command, reply)).toBe(seconds);
});

test("rests double up to ten minutes, and one good session ends the row", () => {
  const refused = { refusal: REFUSAL, needsCooldown: false };
  const seconds: number[] = [];
  let rests = 0;
  for (let n = 0; n < 7; n++) {
    const backoff = getNextBackoff(rests, refused);
    seconds.push(backoff.ms / 1_000);
    rests = backoff.failures;
  }

  expect(seconds).toEqual([30, 60, 120, 240, 480, 600, 600]);
  expect(getNextBackoff(rests, { refusal: null, needsCooldown: false })).toEqual({
    ms: 0,
    failures: 0,
  });
});

const REFUSAL = {
  host: "mx.example.com",
  ip: "192.0.2.1",
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "421",
    ending: null,
    tls: false,
    extensions: [],
  },
  transcript: [],
  attempts: [],
} as const;
