delete from postern_prepared_accounts
where user_id = ?

insert into postern_prepared_accounts (user_id, created_at)
select unnest(?::uuid[]) as user_id, ?::timestamptz as created_at
on conflict do nothing

select user_id
from postern_prepared_accounts
where user_id = ?
