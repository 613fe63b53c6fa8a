/** The backend whose api.ts is beside it: articles, their authors, comments and tags. */
import { defineApi } from "../../../src/index.ts";
import { procedures } from "../../crud/blog.ts";

export default defineApi({ procedures });
