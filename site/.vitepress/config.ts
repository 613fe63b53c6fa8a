/**
 * The site of the documentation. Pages are those of docs/, read where they lie; `site/api/` is made of docstrings, and the
 * files to which pages link beside docs/ are served as text.
 * Next hop: `links.ts`.
 */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import type { Plugin } from "vite";
import type * as llms from "../../scripts/llms.ts";
import { Sources } from "./links.ts";

const root = resolve(import.meta.dirname, "../..");
const { homepage, version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// Imported by Node: Vite would read the tsconfig of the product, which its esbuild does not know.
const { sections } = (await import(pathToFileURL(join(root, "scripts/llms.ts")).href)) as typeof llms;
const sources = new Sources(root);

/** All that is no page. */
const shown = ["docs", "site", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
const others = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !shown.includes(name))
  .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));

/** Pages that are for those who work on svc: no search finds them. */
const forContributors = /^(docs\/adr\/|docs\/reference\/conformance|CONTRIBUTING|SECURITY|CHANGELOG)/;

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const linkTo = ({ title, path }: llms.Section["pages"][number]) => ({
  text: capitalized(title),
  link: `/${path.replace(/\.md$/, "")}`,
});

const api = ["core", "client", "react", "testing"].map((name) => ({ text: `@svc/${name}`, link: `/reference/api/${name}` }));

const sidebar: DefaultTheme.SidebarItem[] = sections().map(({ name, pages, groups }) => ({
  text: name,
  items: [
    ...(groups.length > 0
      ? groups.map((group) => ({ text: group.name, collapsed: true, items: group.pages.map(linkTo) }))
      : pages.map(linkTo)),
    ...(name === "Reference" ? [{ text: "Every export", collapsed: true, items: api }] : []),
  ],
}));

/** Pages are compiled to modules that import Vue. They lie beside site/, where Vue is installed. */
const vueForPages: Plugin = {
  name: "vue-for-pages",
  enforce: "pre",
  resolveId(id, importer, options) {
    if (!importer?.startsWith(root) || !/^vue(\/|$)/.test(id)) return null;
    if (options.ssr) return { id, external: true };
    return this.resolve(id, join(root, "site/index.md"), { ...options, skipSelf: true });
  },
};

export default defineConfig({
  title: "svc",
  description,
  lang: "en",
  base: new URL(homepage).pathname,
  srcDir: root,
  srcExclude: [...others, "docs/README.md", "site/api/README.md"],
  rewrites: {
    "site/index.md": "index.md",
    "site/api/:page": "reference/api/:page",
    "docs/:path*": ":path*",
  },
  outDir: resolve(import.meta.dirname, "../dist"),
  cacheDir: resolve(import.meta.dirname, "../.cache"),
  lastUpdated: false,
  head: [["meta", { name: "color-scheme", content: "light dark" }]],
  ignoreDeadLinks: "localhostLinks",
  sitemap: { hostname: homepage },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => sources.follow(md),
  },
  buildEnd({ outDir }) {
    sources.write(outDir);
    for (const name of ["llms.txt", "llms-full.txt"]) copyFileSync(join(root, name), join(outDir, name));
  },
  vite: { plugins: [vueForPages] },
  themeConfig: {
    nav: [
      { text: "Tutorial", link: "/tutorial/first-application" },
      { text: "Questions", link: "/how-to/questions" },
      { text: "Reference", link: "/reference/configuration" },
      {
        text: `v${version}`,
        items: [
          { text: "Changes", link: "/CHANGELOG" },
          { text: "Security", link: "/SECURITY" },
          { text: "Contribute", link: "/CONTRIBUTING" },
          { text: "Decisions", link: "/adr/README" },
        ],
      },
    ],
    sidebar,
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    search: {
      provider: "local",
      options: {
        _render(source, env, md) {
          return forContributors.test(sources.sourceOf(env).slice(root.length + 1)) ? "" : md.render(source, env);
        },
        miniSearch: { searchOptions: { fuzzy: 0.15, prefix: true, boost: { title: 4, text: 1, titles: 2 } } },
      },
    },
  },
});
