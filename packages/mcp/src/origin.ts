import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Only browsers send an Origin. A page of this machine may come in, and one of our own public address; any other
 * could be one that a name server sent here (DNS rebinding), which MCP wants refused before anything is looked at.
 */
export const assertOrigin = (
  { accessTokens: tokens }: AppWorld,
  origin: string | undefined,
): void => {
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin) : undefined;
  if (from && LOOPBACK_HOSTS.includes(from.hostname)) return;
  if (from && tokens && from.origin === new URL(tokens.audience).origin) return;
  throw new Failure("FORBIDDEN", "nothing_charged", "Pages of this origin may not come in here.");
};
