/** Migrates in a separate process, for a test that kills it. */
import { migrate } from "../../src/migrate/migrate.ts";

const [adminUrl = "", platform = "", application = ""] = process.argv.slice(2);
await migrate({ adminUrl, platform, application });
