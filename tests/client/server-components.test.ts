// If this file fails, importing @svc/react in a server component, as of Next, ends with "createContext is not a function".
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

const folder = join(root, "client/react/src");
const modules = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
const isMarked = (text: string) => /^(\/\*\*.*?\*\/\s*)?"use client";/s.test(text);
/** Type imports have no effect at run time. */
const needsPage = ({ name, text }: { name: string; text: string }) =>
  name.startsWith("use-") || /^import (?!type ).*from "(react|@tanstack\/react-query)";$/m.test(text);

test("modules that need React's client part begin with the directive, and no others do", () => {
  const named = (wanted: typeof modules) => wanted.map(({ name }) => name);
  expect(named(modules.filter(({ text }) => isMarked(text)))).toEqual(named(modules.filter(needsPage)));
  expect(named(modules.filter(needsPage))).toContain("client-context.ts");
  // A server component calls it, and a marked function cannot be called there.
  expect(named(modules.filter((one) => !needsPage(one)))).toContain("query-options.ts");
});
