/** Migrates in a process of its own, for a test that kills it. */
import { migrate } from "../../src/migrate/migrate.ts";

const [adminUrl = "", platform = "", application = ""] = process.argv.slice(2);
await migrate({ adminUrl, platform, application });
