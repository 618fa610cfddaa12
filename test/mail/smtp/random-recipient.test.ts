import { createRandomRecipient } from "@mailproof/mail/smtp/random-recipient";
import { expect, test } from "vitest";

test.each([0, 0.5, 1 - Number.EPSILON])(
  "a random recipient is 20 plain signs, by chance of %d",
  (chance) => {
    expect(createRandomRecipient("a.example", () => chance)).toMatch(
      /^[a-z][a-z0-9]{19}@a\.example$/,
    );
  },
);
