select position, id, type, user_id, data, created_at
from postern_events
where position > ?
order by position
limit ?

select position, id, type, user_id, data, created_at
from postern_events
where position > ? and type = ?
order by position
limit ?

select position, id, type, user_id, data, created_at
from postern_events
where position > ? and type = ? and user_id = ?
order by position
limit ?

select position, id, type, user_id, data, created_at
from postern_events
where position > ? and user_id = ?
order by position
limit ?

with found as (
  select webhook.id as webhook_id, event.position, coalesce(event.user_id, ?::uuid) as lane, 'waiting' as state, ?::timestamptz as due_at
  from postern_events as event
  inner join postern_webhooks as webhook on webhook.id = ? and (webhook.events = '{}' or event.type = any(webhook.events))
  where event.created_at >= ?
  order by event.position
  limit ?), queued as (
  insert into postern_webhook_deliveries (webhook_id, position, lane, state, due_at)
  select *
  from found
  on conflict (webhook_id, position) do update
  set state = ?, due_at = ?, attempts = ?, first_attempt_at = ?
  where postern_webhook_deliveries.state <> ?
  returning position)
select count(*) as found, max(found.position) as "lastPosition", (
  select count(*) as queued
  from queued) as queued
from found

with found as (
  select webhook.id as webhook_id, event.position, coalesce(event.user_id, ?::uuid) as lane, 'waiting' as state, ?::timestamptz as due_at
  from postern_events as event
  inner join postern_webhooks as webhook on webhook.id = ? and (webhook.events = '{}' or event.type = any(webhook.events))
  where event.id = any(?::uuid[])
  order by event.position
  limit ?), queued as (
  insert into postern_webhook_deliveries (webhook_id, position, lane, state, due_at)
  select *
  from found
  on conflict (webhook_id, position) do update
  set state = ?, due_at = ?, attempts = ?, first_attempt_at = ?
  where postern_webhook_deliveries.state <> ?
  returning position)
select count(*) as found, max(found.position) as "lastPosition", (
  select count(*) as queued
  from queued) as queued
from found

with found as (
  select webhook.id as webhook_id, event.position, coalesce(event.user_id, ?::uuid) as lane, 'waiting' as state, ?::timestamptz as due_at
  from postern_events as event
  inner join postern_webhooks as webhook on webhook.id = ? and (webhook.events = '{}' or event.type = any(webhook.events))
  where event.position > ?
  order by event.position
  limit ?), queued as (
  insert into postern_webhook_deliveries (webhook_id, position, lane, state, due_at)
  select *
  from found
  on conflict (webhook_id, position) do update
  set state = ?, due_at = ?, attempts = ?, first_attempt_at = ?
  where postern_webhook_deliveries.state <> ?
  returning position)
select count(*) as found, max(found.position) as "lastPosition", (
  select count(*) as queued
  from queued) as queued
from found

with found as (
  select webhook.id as webhook_id, event.position, coalesce(event.user_id, ?::uuid) as lane, 'waiting' as state, ?::timestamptz as due_at
  from postern_events as event
  inner join postern_webhooks as webhook on webhook.id = ? and (webhook.events = '{}' or event.type = any(webhook.events))
  where exists (
    select given_up.position
    from postern_webhook_deliveries as given_up
    where given_up.webhook_id = ? and given_up.position = event.position and given_up.state = ?)
  order by event.position
  limit ?), queued as (
  insert into postern_webhook_deliveries (webhook_id, position, lane, state, due_at)
  select *
  from found
  on conflict (webhook_id, position) do update
  set state = ?, due_at = ?, attempts = ?, first_attempt_at = ?
  where postern_webhook_deliveries.state <> ?
  returning position)
select count(*) as found, max(found.position) as "lastPosition", (
  select count(*) as queued
  from queued) as queued
from found
