delete from postern_autoconfirmed_addresses
where user_id = ?

delete from postern_autoconfirmed_addresses
where user_id = ? and address = ?
returning cause

delete from postern_autoconfirmed_addresses
where user_id = ? and address = ? and cause <> ?

insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
values (?...)
on conflict do nothing

select address
from postern_autoconfirmed_addresses
where user_id = ?

select id, email, email_confirmed_at, exists (
  select 1 as one
  from postern_autoconfirmed_addresses as assumed
  where assumed.user_id = users.id and assumed.address = users.email and assumed.cause = 'autoconfirm') as is_autoconfirmed
from users
where email in (?) and aud = ? and is_sso_user = ?

select user_id
from postern_autoconfirmed_addresses
where user_id = ? and address = ? and cause = 'autoconfirm'
