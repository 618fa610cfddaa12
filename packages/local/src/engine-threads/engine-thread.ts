import { parentPort, workerData } from "node:worker_threads";
import type { Log } from "@mailproof/core/ports/world";
import type { ProbeRequest } from "@mailproof/core/smtp-pool/probe";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { createMailQuestions } from "@mailproof/core/verify/engine";
import { countOwnErrors } from "@mailproof/net/local-resource-errors";
import type { Environment } from "../environment.ts";
import { type LabAddress, openMailPorts, type PortShare } from "../mail-ports.ts";
import { type ConnectionObserver, observeConnections } from "../metrics/observe-connections.ts";
import { createCallersFirst } from "../server/callers-first.ts";
import { createIdleCheck, SESSION_IDLE } from "../server/idle-check.ts";
import { type Calls, createCalls } from "./calls.ts";
import type { MainHandlers } from "./main-handlers.ts";
import { createRemoteItems } from "./slot-calls.ts";
import { createRemoteTable } from "./table-calls.ts";

// One engine thread: it looks up mail hosts and runs the sessions with mail servers. The main thread stores and logs for it.

export type EngineThreadOptions = {
  readonly environment: Environment;
  readonly lab: LabAddress | null;
  readonly share: PortShare;
  /** True when other engine threads exist, which share the knowledge of mail providers. */
  readonly isOneOfSeveral: boolean;
  readonly reportsConnections: boolean;
  readonly reportsSessions: boolean;
};

const OWN_ERRORS_EVERY_MS = 1_000;

const createThreadHandlers = (options: EngineThreadOptions, main: Calls<MainHandlers>) => {
  const { environment, lab, share, isOneOfSeveral } = options;
  const table = createRemoteTable(main);
  const { enter, yieldToCallers } = createCallersFirst();
  const log: Log = (event, fields) => void main.call("log", event, fields);
  const mail = openMailPorts(environment, table, lab, share);
  const connections: ConnectionObserver = {
    onConnect: (outcome) => void main.call("reportConnect", outcome),
    onClose: () => void main.call("reportClose"),
  };
  const questions = createMailQuestions(
    {
      ...mail,
      ...(options.reportsConnections && {
        connect: observeConnections(mail.connect, connections),
      }),
      ...(isOneOfSeveral && {
        slots: createSharedSlots({ ...mail, table: createRemoteItems(main) }),
      }),
      ...(options.reportsSessions && {
        onSession: (report) => void main.call("reportSession", report),
      }),
      yieldToCallers,
      hasTime: createIdleCheck(SESSION_IDLE),
      log,
    },
    {
      record: async (provider, reply) => {
        await main.call("recordCanary", provider, reply);
      },
    },
  );

  return {
    /** Proves that this thread's event loop runs. */
    ping: () => null,
    findMailHosts: (domain: string, account?: string) => questions.findMailHosts(domain, account),
    probe: async (question: ProbeRequest) => {
      if (question.requester?.priority !== "caller") return questions.probe(question);
      const leave = enter();
      return questions.probe(question).finally(leave);
    },
  };
};

export type EngineThreadHandlers = ReturnType<typeof createThreadHandlers>;

const reportOwnErrors = (main: Calls<MainHandlers>): void => {
  let reported = 0;
  setInterval(() => {
    const times = countOwnErrors() - reported;
    reported += times;
    if (times > 0) void main.call("addOwnErrors", times);
  }, OWN_ERRORS_EVERY_MS);
};

if (parentPort) {
  const main = createCalls<MainHandlers>(parentPort);
  main.serve(createThreadHandlers(workerData as EngineThreadOptions, main));
  reportOwnErrors(main);
}
