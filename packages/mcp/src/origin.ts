import type { AppWorld } from "@mailproof/core/app-world";
import { Failure } from "@mailproof/core/lib/failure";

export const MCP_PATH = "/mcp";

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Only browsers send an Origin. Pages of this machine and of our own public address may call; any other could use DNS rebinding, and MCP
 * requires refusing it before anything else.
 */
export const assertOrigin = (
  { accessTokens: tokens }: AppWorld,
  origin: string | undefined,
): void => {
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin) : undefined;
  if (from && LOOPBACK_HOSTS.includes(from.hostname)) return;
  if (from && tokens && from.origin === new URL(tokens.audience).origin) return;
  throw new Failure("FORBIDDEN", "nothing_charged", "This origin is not allowed.");
};
