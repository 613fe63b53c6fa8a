/** `npm run bench [-- NAME…]`: runs the named benchmarks, or all of them. One file per dimension. */
const all = [
  "crud",
  "lists",
  "graphql",
  "realtime",
  "start",
  "dev",
  "auth",
  "jobs",
  "workflows",
  "storage",
  "documents",
  "search",
  "catalog",
  "backup",
];
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));

for (const name of wanted.length > 0 ? wanted : all) {
  if (!all.includes(name)) throw new Error(`There is no benchmark "${name}". There are: ${all.join(", ")}.`);
  const { run } = await import(`./${name}.ts`);
  await run();
}
