import { startLab } from "@mailproof/lab/lab";
import type { Environment } from "../environment.ts";
import { isLabEnabled, openMailPorts } from "../mail-ports.ts";
import { createSqliteTable } from "../storage/sqlite-table.ts";

type MailNetwork = {
  /** True when names below .test belong to the lab, unless the environment names another network. */
  readonly mayUseLab: boolean;
};

/** Runs with a table in memory, without a server and without state. Closes everything at the end. */
export const withMailPorts = async <T>(
  environment: Environment,
  { mayUseLab }: MailNetwork,
  run: (mailPorts: ReturnType<typeof openMailPorts>) => Promise<T>,
): Promise<T> => {
  const lab = mayUseLab && isLabEnabled(environment) ? await startLab() : null;
  const table = createSqliteTable(":memory:", () => new Date());
  const mailPorts = openMailPorts(environment, table, lab);
  try {
    await mailPorts.listsReady;
    return await run(mailPorts);
  } finally {
    mailPorts.close();
    table.close();
    await lab?.close();
  }
};
