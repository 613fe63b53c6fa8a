/** Makes `site/api/`, a page for each package, from the docstrings of its public exports. Run by `scripts/site.ts`. */
import { Converter } from "typedoc";

const packages = {
  core: "../src/index.ts",
  client: "../client/sdk/src/index.ts",
  react: "../client/react/src/index.ts",
  "tanstack-db": "../client/tanstack-db/src/index.ts",
  testing: "../client/testing/src/index.ts",
};

/** Names each module by its package: it would be the path. */
function nameModules(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const [index, name] of Object.keys(packages).entries()) {
      const module = project.children?.[index];
      if (module) module.name = name;
    }
  });
}

export default {
  plugin: ["typedoc-plugin-markdown", nameModules],
  tsconfig: "../tsconfig.json",
  entryPoints: Object.values(packages),
  sort: ["alphabetical"],
  sortEntryPoints: false,
  out: "api",
  router: "module",
  readme: "none",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  disableSources: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  skipErrorChecking: true,
  // The declaration of a public type may name an internal one.
  validation: { notExported: false, invalidLink: true, notDocumented: false },
  sanitizeComments: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  propertyMembersFormat: "table",
  tableColumnSettings: { hideSources: true, hideModifiers: true, hideInherited: true, hideOverrides: true },
  pageTitleTemplates: { module: ({ name }) => `@svc/${name}` },
};
