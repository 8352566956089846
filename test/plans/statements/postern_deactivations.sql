delete from postern_deactivations
where user_id = ?

delete from postern_deactivations
where user_id = ? and connection_id = ?

insert into postern_deactivations (user_id, connection_id, created_at)
values (?...)
on conflict (user_id) do update
set connection_id = ?

select exists (
  select 1 as one
  from postern_deactivations
  where postern_deactivations.user_id = ?::uuid) as found

select postern_deactivations.created_at
from postern_deactivations
where postern_deactivations.user_id = ?
