import { readFileSync } from "node:fs";
import { SPECIAL_BLOCKS } from "@mailproof/mail/special-blocks";
import { expect, test } from "vitest";

// deploy/exit is another machine and has no code of ours: what it must know is written there once more, and compared here.

test("the exit refuses every block of IPv4 that is not public", () => {
  const rules = readFileSync("deploy/exit/danted.conf", "utf8");
  const refused = [...rules.matchAll(/^socks block \{ from: 0\.0\.0\.0\/0 to: (\S+) /gm)].map(
    ([, block]) => block,
  );

  // The last one refuses what no rule allows.
  expect(refused).toEqual([
    ...Object.keys(SPECIAL_BLOCKS).filter((block) => !block.includes(":")),
    "0.0.0.0/0",
  ]);
});
