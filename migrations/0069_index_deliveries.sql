-- The deliveries of an endpoint that is a row, newest first, for its owner (sql/webhooks/find_endpoint_deliveries.sql). Those of
-- receivers in the environment are read by operators alone, in another order, and cost nothing more.

create index webhook_deliveries_endpoint on svc.webhook_deliveries (source, endpoint, sequence) where source <> 'env';
