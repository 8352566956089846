delete from postern_admins
where user_id = ?

insert into postern_admins (user_id, role, created_at, updated_at)
values (?...)
on conflict (user_id) do nothing
returning user_id

select postern_admins.user_id, postern_admins.role, postern_admins.created_at, postern_admins.updated_at, users.email, users.phone, users.last_sign_in_at, exists (
  select mfa_factors.id
  from mfa_factors
  where mfa_factors.user_id = postern_admins.user_id and mfa_factors.status = ?) as has_factor
from postern_admins
inner join users on users.id = postern_admins.user_id
order by postern_admins.created_at, postern_admins.user_id

select postern_admins.user_id, postern_admins.role, postern_admins.created_at, postern_admins.updated_at, users.email, users.phone, users.last_sign_in_at, exists (
  select mfa_factors.id
  from mfa_factors
  where mfa_factors.user_id = postern_admins.user_id and mfa_factors.status = ?) as has_factor
from postern_admins
inner join users on users.id = postern_admins.user_id
where postern_admins.user_id = ?

select role
from postern_admins
where user_id = ?

select user_id
from postern_admins
limit ?

select user_id
from postern_admins
where role = ?
order by user_id

select user_id
from postern_admins
where role = ?
order by user_id
for update

update postern_admins
set role = ?, updated_at = ?
where user_id = ?
