insert into postern_session_proofs (session_id, by_sms, asks_email_change)
values (?...)
on conflict (session_id) do update
set asks_email_change = ?

insert into postern_session_proofs (session_id, reauthenticated_at)
select id, ?::timestamptz as reauthenticated_at
from sessions
where id = ?
on conflict (session_id) do update
set reauthenticated_at = excluded.reauthenticated_at

update postern_session_proofs
set asks_email_change = ?
where asks_email_change = ? and session_id in (
  select id
  from sessions
  where user_id = ?)
