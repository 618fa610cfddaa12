import type { SmtpConnect } from "@mailproof/mail/smtp/wire";

/** The reports of a thread that connects to mail servers. Plain data: an engine thread sends them to the server's thread. */
export type ConnectionObserver = {
  /** `outcome`: "connected", or the fault. Only a successful connection closes. */
  readonly onConnect: (outcome: string) => void;
  readonly onClose: () => void;
};

export const CONNECTED = "connected";

export const observeConnections =
  (connect: SmtpConnect, { onConnect, onClose }: ConnectionObserver): SmtpConnect =>
  async (target, options) => {
    const wire = await connect(target, options);
    if (typeof wire === "string") {
      onConnect(wire);
      return wire;
    }
    onConnect(CONNECTED);
    let isOpen = true;
    const close = (): Promise<void> => {
      if (isOpen) onClose();
      isOpen = false;
      return wire.close();
    };
    return { ...wire, close };
  };
