-- What was spent since midnight, whoever spent it (sql/ops/service_state.sql). Rows come in the order of time, so an index of
-- ranges is enough: some hundred bytes, however long the ledger grows.

create index ai_ledger_created_at on svc.ai_ledger using brin (created_at);
