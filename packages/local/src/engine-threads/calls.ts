import type { MessagePort, Worker } from "node:worker_threads";
import { getMessage } from "../storage/sqlite.ts";

// Calls between two threads. Arguments and results are plain data; the calls of one turn travel in one message.

export type Handlers = Readonly<Record<string, (...args: never[]) => unknown>>;

type CallMessage = { readonly call: string; readonly id: number; readonly args: unknown[] };
type ReturnMessage = { readonly id: number; readonly value: unknown };
type ErrorMessage = { readonly id: number; readonly error: Error };
type Message = CallMessage | ReturnMessage | ErrorMessage;

/** The other thread ended before it returned. */
export const ENDED = Symbol("the thread ended");

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

export type Calls<Remote extends Handlers> = {
  /** Rejects with the error of the other thread's handler, without its cause. */
  readonly call: <Name extends keyof Remote & string>(
    name: Name,
    ...args: Parameters<Remote[Name]>
  ) => Promise<Awaited<ReturnType<Remote[Name]>> | typeof ENDED>;
  readonly serve: (handlers: Handlers) => void;
  readonly end: () => void;
};

export const createCalls = <Remote extends Handlers>(
  port: Pick<MessagePort | Worker, "postMessage" | "on">,
): Calls<Remote> => {
  let handlers: Handlers = {};
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let outgoing: Message[] = [];

  const flush = (): void => {
    const messages = outgoing;
    outgoing = [];
    port.postMessage(messages);
  };
  const send = (message: Message): void => {
    // Sends after the promise callbacks of this turn, which may add more calls.
    if (outgoing.length === 0) queueMicrotask(() => process.nextTick(flush));
    outgoing.push(message);
  };

  const handle = async ({ call, id, args }: CallMessage): Promise<void> => {
    try {
      send({ id, value: await handlers[call]?.(...(args as never[])) });
    } catch (error) {
      send({ id, error: toPlainError(error) });
    }
  };
  const settle = (message: ReturnMessage | ErrorMessage): void => {
    const call = pending.get(message.id);
    pending.delete(message.id);
    if ("error" in message) call?.reject(message.error);
    else call?.resolve(message.value);
  };
  port.on("message", (messages: readonly Message[]) => {
    for (const message of messages) {
      if ("call" in message) void handle(message);
      else settle(message);
    }
  });

  return {
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        pending.set(id, { resolve: resolve as Pending["resolve"], reject });
        send({ call: name, id, args });
      }),
    serve: (served) => {
      handlers = served;
    },
    end: () => {
      for (const { resolve } of pending.values()) resolve(ENDED);
      pending.clear();
    },
  };
};

/** Omits the cause and the error's own fields, which a message may be unable to carry. */
const toPlainError = (error: unknown): Error =>
  error instanceof RangeError ? new RangeError(error.message) : new Error(getMessage(error));
