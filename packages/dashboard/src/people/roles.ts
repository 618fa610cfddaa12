import type { Role } from "@mailproof/core/people/roles";

export const MEANINGS: Readonly<Record<Role, string>> = {
  owner: "everything, with API keys and people",
  admin: "everything but API keys, and invites people",
  member: "reads and writes, and spends credits",
  viewer: "reads only",
};
