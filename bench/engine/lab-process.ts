import { type LabOptions, startLab } from "@mailproof/lab/lab";

// The lab in its own process, so that the processor time of a client is the client's alone. It sends its
// address, answers every message with its counts, and ends with the process that started it.

const lab = await startLab(JSON.parse(process.argv[2] ?? "{}") as LabOptions);
const { dns, smtpPort, smtpAddresses } = lab;

process.on("message", () => process.send?.(lab.stats()));
process.on("disconnect", () => void lab.close());
process.send?.({ dns, smtpPort, smtpAddresses });
