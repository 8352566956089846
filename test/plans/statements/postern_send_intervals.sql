delete from postern_send_intervals
where key = ?

insert into postern_send_intervals (key, sent_at)
select ?::text as key, ?::timestamptz as sent_at
where not exists (
  select key from postern_send_intervals
  where key = any(?::text[]) and sent_at > ?)
on conflict (key) do update
set sent_at = ?
where postern_send_intervals.sent_at <= ?
returning key

select max(sent_at) as sent_at
from postern_send_intervals
where key = any(?::text[])
