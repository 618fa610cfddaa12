import { loadDashboard } from "@mailproof/local/server/dashboard-build";
import { findTools } from "../../scripts/tools.ts";

// Some tests format or compile what they make. The first run after a clone installs the tools before any test starts:
// inside a test it would be counted as the test's own time. Likewise every server builds the dashboard where it is not
// built yet: a hundred that end before they have would each begin it again.
export const setup = async (): Promise<void> => {
  findTools();
  await loadDashboard(AbortSignal.timeout(300_000));
};
