import { signCursor, verifyCursor } from "../lib/cursor.ts";
import { toPersonKey } from "../people/items.ts";
import type { Settings } from "../ports/settings.ts";
import type { World } from "../ports/world.ts";

// A link in each mail ends all mails to its person. The signed token alone proves the right to do so: nobody signs in.

const PURPOSE = "mail of a person";

export const signMailToken = (settings: Settings, person: string): string =>
  signCursor(settings, PURPOSE, person);

/** False when no person has this token. Ambiguous writes are repeated: the result is the same. */
export const switchMail = async (
  { table, settings }: Pick<World, "table" | "settings">,
  token: string,
  isOn: boolean,
): Promise<boolean> => {
  const person = verifyCursor(settings, PURPOSE, token);
  if (typeof person !== "string") return false;
  const { outcome } = await table.write({
    update: toPersonKey(person),
    set: { noMail: isOn ? undefined : true },
    where: { id: person },
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the switch was stored");
  return outcome === "committed";
};
