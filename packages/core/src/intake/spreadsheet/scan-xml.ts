import {
  createXmlScanner,
  decodeEntities,
  toLocalName,
  XmlFault,
  type XmlHandler,
} from "@mailproof/mail/lib/scan-xml";
import { createDamagedFault } from "./fault.ts";

export const scanXml = async (
  bytes: AsyncIterable<Uint8Array>,
  { open, close, text }: XmlHandler,
): Promise<void> => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const scanner = createXmlScanner({
    open: (name, tag) => open(toLocalName(name), tag),
    close: (name) => close(toLocalName(name)),
    text: (more) => text(decodeEntities(more)),
  });
  try {
    for await (const piece of bytes) scanner.write(decode(decoder, piece));
    scanner.end();
  } catch (error) {
    throw error instanceof XmlFault ? createDamagedFault(error.message) : error;
  }
};

const decode = (decoder: InstanceType<typeof TextDecoder>, piece: Uint8Array): string => {
  try {
    return decoder.decode(piece, { stream: true });
  } catch {
    throw createDamagedFault("its text is not UTF-8");
  }
};
