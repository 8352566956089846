delete from postern_throttles
where key = ?

delete from postern_throttles
where key = any(?::text[])

select blocked_until as "blockedUntil",
case
when day_failures >= ?::int then day_began_at end as "dayBeganAt"
from postern_throttles
where key = ?

update postern_throttles
set failures = greatest(failures - 1, 0), day_failures = greatest(day_failures - 1, 0), blocked_until = nullif(blocked_until, ?::timestamptz)
where key = ?
