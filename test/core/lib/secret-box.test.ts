import { decryptSecret, encryptSecret } from "@mailproof/core/lib/secret-box";
import { expect, test } from "vitest";
import { givenWorld } from "../../given.ts";

test("an encrypted secret is decrypted for its owner, and does not contain the plain text", () => {
  const { world } = givenWorld();

  const encrypted = encryptSecret(world, "acc_1", "whsec_geheim");

  expect(decryptSecret(world, "acc_1", encrypted)).toBe("whsec_geheim");
  expect(Buffer.from(encrypted, "base64url").toString("latin1")).not.toContain("geheim");
});

test("the same secret never looks the same twice", () => {
  const { world } = givenWorld();

  expect(encryptSecret(world, "acc_1", "s")).not.toBe(encryptSecret(world, "acc_1", "s"));
});

test("for another owner, or with another key, it opens nothing", () => {
  const { world } = givenWorld();
  const encrypted = encryptSecret(world, "acc_1", "secret");
  const settings = { ...world.settings, encryptionKey: "another key of the operator" };

  expect(decryptSecret(world, "acc_2", encrypted)).toBeUndefined();
  expect(decryptSecret({ settings }, "acc_1", encrypted)).toBeUndefined();
});

test("changed by a single bit, or cut short, it opens nothing", () => {
  const { world } = givenWorld();
  const bytes = Buffer.from(encryptSecret(world, "acc_1", "secret"), "base64url");

  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(
      decryptSecret(world, "acc_1", changed.toString("base64url")),
      `byte ${at}`,
    ).toBeUndefined();
    const cut = bytes.subarray(0, at).toString("base64url");
    expect(decryptSecret(world, "acc_1", cut), `${at} bytes`).toBeUndefined();
  }
});
