/**
 * The site of the documentation. Pages are those of docs/, read where they lie; `site/api/` is made of docstrings, and the
 * files to which pages link beside docs/ are served as text.
 * Next hop: `links.ts`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import { type DefaultTheme, defineConfig } from "vitepress";
import type * as llms from "../../scripts/llms.ts";
import { Sources } from "./links.ts";

const root = resolve(import.meta.dirname, "../..");
const { homepage, version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// Imported by Node: Vite would read the tsconfig of the product, which its esbuild does not know.
const { sections, llmsText, llmsFullText } = (await import(
  pathToFileURL(join(root, "scripts/llms.ts")).href
)) as typeof llms;
const sources = new Sources(root);

/** All that is no page. */
const shown = ["docs", "site", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
const others = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !shown.includes(name))
  .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b5f86"/><path d="M4 6h8M4 10h5" stroke="#fff" stroke-width="2"/></svg>';

/** Pages that are for those who work on svc: no search finds them. */
const forContributors = /^(docs\/adr\/|docs\/reference\/conformance|CONTRIBUTING|SECURITY|CHANGELOG)/;

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const linkTo = ({ title, path }: llms.Section["pages"][number]) => ({
  text: capitalized(title),
  link: `/${path.replace(/\.md$/, "")}`,
});

const api = ["core", "client", "react", "tanstack-db", "testing"].map((name) => ({
  text: `@svc/${name}`,
  link: `/reference/api/${name}`,
}));

/** All pages, for the links to the previous and the next one. `theme/SidebarGroup.ts` shows of them what a page needs. */
const sidebar: DefaultTheme.SidebarItem[] = sections().map(({ name, pages, groups }) => ({
  text: name,
  items: [
    ...(groups.length > 0
      ? groups.map((group) => ({ text: group.name, items: group.pages.map(linkTo) }))
      : pages.map(linkTo)),
    ...(name === "Reference" ? [{ text: "Every export", items: api }] : []),
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

/**
 * The address of the newest pages, and below it those of each release. `scripts/site.ts` says which release is built, or
 * which of them lie beside the newest.
 */
const { DOCS_RELEASE: release, DOCS_RELEASES: releases = "" } = process.env;
const home = new URL(homepage).pathname;
const versions = release
  ? [{ text: "Newest", link: homepage, target: "_self" }]
  : releases
      .split(" ")
      .filter(Boolean)
      .map((older) => ({ text: older, link: `/${older}/`, target: "_self" }));

export default defineConfig({
  title: "svc",
  description,
  lang: "en",
  base: release ? `${home}${release}/` : home,
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
  head: [
    ["meta", { name: "color-scheme", content: "light dark" }],
    ["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
  ],
  ignoreDeadLinks: "localhostLinks",
  sitemap: { hostname: homepage },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => sources.follow(md),
  },
  buildEnd({ outDir }) {
    sources.write(outDir);
    writeFileSync(join(outDir, "llms.txt"), llmsText());
    writeFileSync(join(outDir, "llms-full.txt"), llmsFullText());
  },
  vite: {
    build: { chunkSizeWarningLimit: 2_000 },
    plugins: [vueForPages],
    resolve: {
      alias: [{ find: "./VPSidebarGroup.vue", replacement: join(import.meta.dirname, "theme/SidebarGroup.ts") }],
    },
  },
  themeConfig: {
    nav: [
      { text: "Tutorial", link: "/tutorial/first-application" },
      { text: "Questions", link: "/how-to/questions" },
      { text: "Reference", link: "/reference/configuration" },
      {
        text: release ?? `v${version}`,
        items: [
          { text: "Changes", link: "/CHANGELOG" },
          { text: "Security", link: "/SECURITY" },
          { text: "Contribute", link: "/CONTRIBUTING" },
          { text: "Decisions", link: "/adr/README" },
          ...versions,
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
        // The name of the button is what it shows; the theme's own hint of the keys is not part of its name.
        translations: { button: { buttonText: "Search (Ctrl K)", buttonAriaLabel: "Search (Ctrl K)" } },
        miniSearch: {
          searchOptions: {
            fuzzy: 0.15,
            prefix: true,
            boost: { title: 4, text: 1, titles: 2 },
            // A page that explains comes before a list of exports, and the page about a task before sections that mention it.
            boostDocument(id: string, _term: string, { titles }: { titles?: string[] } = {}) {
              if (id.includes("/reference/api/")) return 0.2;
              if (!id.includes("/how-to/")) return 1;
              return titles?.length === 0 ? 3 : 1.5;
            },
          },
        },
      },
    },
  },
});
