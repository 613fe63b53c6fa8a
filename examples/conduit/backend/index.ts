import { defineApi } from "@svc/core";
import * as articles from "./articles.ts";
import * as people from "./people.ts";

export default defineApi({ httpRoutes: { ...people, ...articles } });
