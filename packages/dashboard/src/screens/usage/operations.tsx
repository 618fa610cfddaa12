import type { GetUsageData } from "@mailproof/client";
import { formatNumber } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { Head } from "../../parts/row-table.tsx";
import { OPERATIONS } from "./words.ts";

type Row = { readonly name: string; readonly used: number; readonly refunded: number };

const listRows = ({ credits_used, credits_refunded, by_operation }: GetUsageData["totals"]) => {
  const rows: Row[] = by_operation.map((one) => ({
    name: OPERATIONS[one.operation],
    used: one.credits_used,
    refunded: one.credits_refunded,
  }));
  const sum = (field: "used" | "refunded") => rows.reduce((total, row) => total + row[field], 0);
  const other = {
    name: "Before operations were recorded",
    used: credits_used - sum("used"),
    refunded: credits_refunded - sum("refunded"),
  };
  return other.used === 0 && other.refunded === 0 ? rows : [...rows, other];
};

type Props = { readonly totals: GetUsageData["totals"]; readonly fileName: string };

export const OperationsPanel = ({ totals, fileName }: Props) => {
  const rows = listRows(totals);
  const most = Math.max(1, ...rows.map(({ used }) => used));
  const getTable = () => ({
    header: ["operation", "credits_used", "credits_refunded"],
    rows: rows.map(({ name, used, refunded }) => [name, used, refunded]),
  });
  return (
    <section class="panel operations" aria-labelledby="operations">
      <div class="heading">
        <h2 id="operations">By operation</h2>
        <CsvButton
          of="Credits by operation"
          fileName={`${fileName}-by-operation`}
          getTable={getTable}
        />
      </div>
      {rows.length === 0 ? (
        <p class="soft">No credits were used in this period.</p>
      ) : (
        <table>
          <Head titles={["Operation", "Used", "Refunded"]} numbers={["Used", "Refunded"]} />
          <tbody>
            {rows.map(({ name, used, refunded }) => (
              <tr key={name}>
                <th scope="row">
                  {name}
                  <svg
                    class="share"
                    viewBox="0 0 100 4"
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    <rect width={(used / most) * 100} height="4" />
                  </svg>
                </th>
                <td class="number">{formatNumber(used)}</td>
                <td class="number">{formatNumber(refunded)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
};
