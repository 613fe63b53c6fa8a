/** One application with the procedures of the searches and of the documents. */

import { procedures } from "../rag/application.ts";
import { searches } from "../search/application.ts";
import { apiWith } from "../support/service.ts";

export const api = apiWith({ procedures: { ...searches, ...procedures, searchPages: searches.search } });
