import type { Table } from "@mailproof/core/ports/table";
import type { Log } from "@mailproof/core/ports/world";
import type { OnSession, SessionReport } from "@mailproof/core/smtp-pool/session-report";
import type { Canaries } from "@mailproof/core/verify/canaries";
import { addOwnErrors } from "@mailproof/net/local-resource-errors";
import { CONNECTED, type ConnectionObserver } from "../metrics/observe-connections.ts";
import type { ProviderItems } from "./slot-calls.ts";
import { createTableHandlers } from "./table-calls.ts";

export type MainPorts = {
  readonly table: Table;
  readonly log: Log;
  readonly canaries: Canaries;
  readonly connections?: ConnectionObserver | undefined;
  readonly onSession?: OnSession;
};

export const createThreadConnections = (observer: ConnectionObserver | undefined) => {
  let open = 0;
  const reportClose = (): void => {
    open--;
    observer?.onClose();
  };
  return {
    handlers: {
      reportConnect: (outcome: string): void => {
        if (outcome === CONNECTED) open++;
        observer?.onConnect(outcome);
      },
      reportClose,
    },
    closeAll: (): void => {
      while (open > 0) reportClose();
    },
  };
};

type ThreadConnections = ReturnType<typeof createThreadConnections>;

export type MainHandlers = ReturnType<typeof createMainHandlers>;

export const createMainHandlers = (
  { table, log, canaries, onSession }: MainPorts,
  providers: ProviderItems,
  thread: object,
  connections: ThreadConnections,
) => ({
  ...createTableHandlers(table),
  ...providers.handlersOf(thread),
  ...connections.handlers,
  log,
  recordCanary: (...[provider, reply]: Parameters<Canaries["record"]>) =>
    canaries.record(provider, reply),
  addOwnErrors,
  reportSession: (report: SessionReport) => onSession?.(report),
});
