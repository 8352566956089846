delete from postern_scim_accounts
where scim_user_id = ?

insert into postern_scim_accounts (scim_user_id)
values (?)

select id, user_id, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account
from scim_users
where sso_provider_id = ? and user_name = lower(?) and deleted_at is not null
order by deleted_at desc
limit ?
