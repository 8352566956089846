select delivery.position, delivery.state, delivery.attempts, delivery.due_at, delivery.first_attempt_at, delivery.last_attempt_at, delivery.delivered_at, delivery.answer, event.id, event.type, event.user_id, event.data, event.created_at
from postern_webhook_deliveries as delivery
inner join postern_events as event on event.position = delivery.position
where delivery.webhook_id = ? and delivery.position < ?
order by delivery.position desc
limit ?

select delivery.position, delivery.state, delivery.attempts, delivery.due_at, delivery.first_attempt_at, delivery.last_attempt_at, delivery.delivered_at, delivery.answer, event.id, event.type, event.user_id, event.data, event.created_at
from postern_webhook_deliveries as delivery
inner join postern_events as event on event.position = delivery.position
where delivery.webhook_id = ? and delivery.position < ? and delivery.state = ?
order by delivery.position desc
limit ?

select id, url, state, reason, failures, (
  select count(*)::float8 as dead
  from postern_webhook_deliveries
  where webhook_id = postern_webhooks.id and postern_webhook_deliveries.state = 'dead') as dead
from postern_webhooks
order by created_at
