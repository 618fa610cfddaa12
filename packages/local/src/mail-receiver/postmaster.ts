import type { AcceptOutcome } from "@mailproof/core/deliverability/mail-recipient";
import type { Budget } from "@mailproof/core/lib/budget";
import type { World } from "@mailproof/core/ports/world";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { getBlobFile } from "../storage/file-blobs.ts";

/** Every server accepts mail for postmaster, with or without its domain, in any case (RFC 5321 §4.5.1). */
export const isPostmaster = ({ settings }: Pick<World, "settings">, address: string): boolean =>
  ["postmaster", `postmaster@${settings.mailDomain}`].includes(address.toLowerCase());

/** Stores the mail for some days, and logs the name of its file. The mail is never sent on. */
export const keepForOperator = async (
  { blobs, log, newId }: Pick<World, "blobs" | "log" | "newId">,
  budget: Budget,
  network: string,
  { raw, ip }: ReceivedMessage,
): Promise<AcceptOutcome> => {
  if (!budget.take(network, raw.length)) return "busy";
  const key = `inbound/postmaster/${newId("txn")}`;
  await blobs.put(key, ReadableStream.from([raw]));
  log("postmaster_mail", { ip, bytes: raw.length, file: getBlobFile(key) });
  return "stored";
};
