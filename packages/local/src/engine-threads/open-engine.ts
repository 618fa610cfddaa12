import { availableParallelism } from "node:os";
import type { Table } from "@mailproof/core/ports/table";
import type { Log } from "@mailproof/core/ports/world";
import type { YieldToCallers } from "@mailproof/core/smtp-pool/fairness";
import type { OnSession } from "@mailproof/core/smtp-pool/session-report";
import { createEngine, type Engine } from "@mailproof/core/verify/engine";
import { createProviderBeliefs } from "@mailproof/core/verify/provider-beliefs";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import type { Environment } from "../environment.ts";
import { type LabAddress, openMailPorts } from "../mail-ports.ts";
import { type ConnectionObserver, observeConnections } from "../metrics/observe-connections.ts";
import { createIdleCheck, SESSION_IDLE } from "../server/idle-check.ts";
import { createThreadedQuestions, MAIN_PACKETS_SHARE } from "./threaded-engine.ts";

type EnginePorts = {
  readonly table: Table;
  readonly yieldToCallers: YieldToCallers;
  readonly log: Log;
  readonly connections?: ConnectionObserver | undefined;
  readonly onSession?: OnSession;
};

export type OpenEngine = {
  readonly engine: Engine;
  readonly mail: ReturnType<typeof openMailPorts>;
  readonly start: () => void;
  readonly close: () => void;
};

/**
 * With a thread, a list on two cores reaches only four fifths of its rate. A second thread gains little anywhere, because the server's
 * thread is then the limit (docs/design/fairness.md).
 */
const CORES_FOR_A_THREAD = 3;

export const chooseThreads = (
  { ENGINE_THREADS }: Pick<Environment, "ENGINE_THREADS">,
  cores = availableParallelism(),
): number => ENGINE_THREADS ?? (cores >= CORES_FOR_A_THREAD ? 1 : 0);

export const openEngine = (
  environment: Environment,
  lab: LabAddress | null,
  ports: EnginePorts,
): OpenEngine => {
  const { table, yieldToCallers, log, connections, onSession } = ports;
  const threads = chooseThreads(environment);
  if (threads === 0) {
    const mail = openMailPorts(environment, table, lab, undefined, log);
    const connect = connections ? observeConnections(mail.connect, connections) : mail.connect;
    const engine = createEngine({
      ...mail,
      connect,
      yieldToCallers,
      hasTime: createIdleCheck(SESSION_IDLE),
      log,
      onSession,
    });
    return { engine, mail, start: () => undefined, close: mail.close };
  }
  const share = { packets: MAIN_PACKETS_SHARE, sessions: 1 };
  const mail = openMailPorts(environment, table, lab, share, log);
  const beliefs = createProviderBeliefs({ ...mail, log });
  const address = lab && {
    dns: lab.dns,
    smtpPort: lab.smtpPort,
    smtpAddresses: lab.smtpAddresses,
  };
  const { start, close, ...questions } = createThreadedQuestions(
    { environment, lab: address, threads },
    { table, log, canaries: beliefs.canaries, connections, onSession },
  );
  return {
    engine: {
      ...QUIET_ENGINE,
      ...questions,
      beliefs,
      lists: mail.lists,
      now: mail.now,
      yieldToCallers,
    },
    mail,
    start,
    close: () => {
      close();
      mail.close();
    },
  };
};
