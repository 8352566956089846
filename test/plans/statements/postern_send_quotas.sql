insert into postern_send_quotas (channel, tokens, refilled_at, quota)
select requested.key as channel, requested.quota - 1 as tokens, ?::timestamptz as refilled_at, requested.quota as quota
from unnest(?...)
with ordinality as requested(key, quota, position)
order by requested.position
on conflict (channel) do update
set tokens =
case
when postern_send_quotas.refilled_at <= ? then excluded.quota
else postern_send_quotas.tokens + excluded.quota - coalesce(postern_send_quotas.quota, excluded.quota) end - 1, quota = excluded.quota, refilled_at =
case
when postern_send_quotas.refilled_at <= ? then excluded.refilled_at
else postern_send_quotas.refilled_at end
where (postern_send_quotas.refilled_at <= ? or postern_send_quotas.tokens + excluded.quota - coalesce(postern_send_quotas.quota, excluded.quota) > 0)
returning channel as key, refilled_at as "windowBegan"

select max(refilled_at) as "refilledAt"
from postern_send_quotas
inner join unnest(?...)
with ordinality as requested(key, quota, position) on postern_send_quotas.channel = requested.key where tokens + requested.quota - coalesce(postern_send_quotas.quota, requested.quota) <= 0 and refilled_at > ?

update postern_send_quotas
set tokens = least(tokens + 1, coalesce(quota, tokens + 1))
where channel = ? and refilled_at = ?
