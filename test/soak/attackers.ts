import { ATTACKS } from "./attacks/all.ts";
import { hold, type Means } from "./attacks/attack.ts";
import { AT_ONCE, isOn } from "./schedule.ts";
import { startReceiver } from "./service.ts";

// All attackers, in a process of their own. It attacks from one message to the next, and ends with the process that
// started it.

export type Given = {
  readonly baseUrl: string;
  readonly mailPort: number;
  readonly company: string;
  readonly keys: Readonly<Record<string, { readonly live: string; readonly test: string }>>;
};
/** Attack for so long; absent: no more. */
export type Order = { readonly forMs?: number };
export type Report = Readonly<Record<string, Readonly<Record<string, number>>>>;

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
const slow = await startReceiver("never");
const noted = new Map<string, Map<string, number>>();

const meansOf = (name: string): Means => {
  const counts = new Map<string, number>();
  noted.set(name, counts);
  const { live = "", test = "" } = given.keys[name] ?? {};
  return {
    ...given,
    port: Number(new URL(given.baseUrl).port),
    liveKey: live,
    testKey: test,
    slowUrl: slow.url,
    note: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
  };
};

const rounds = ATTACKS.map(({ name, pauseMs, begin }) => ({
  name,
  pauseMs,
  round: begin(meansOf(name)),
}));

const attack = async ({ round, pauseMs }: (typeof rounds)[number], at: number, forMs: number) => {
  const turnMs = Math.floor(forMs / rounds.length);
  const startMs = performance.now();
  const turn = () => Math.floor((performance.now() - startMs) / turnMs);
  const phase = AbortSignal.timeout(forMs);
  while (!phase.aborted) {
    if (!isOn(at, turn(), rounds.length)) {
      await hold(turnMs / 4, phase);
      continue;
    }
    const mine = AbortSignal.timeout(turnMs * AT_ONCE);
    await round(AbortSignal.any([phase, mine]));
    await hold(pauseMs, phase);
  }
};

const report = (): Report =>
  Object.fromEntries([...noted].map(([name, counts]) => [name, Object.fromEntries(counts)]));

process.on("message", ({ forMs = 0 }: Order) => {
  void Promise.all(rounds.map((one, at) => attack(one, at, forMs))).then(() =>
    process.send?.(report()),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({});
