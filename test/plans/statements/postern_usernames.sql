delete from postern_usernames
where (username = ? or skeleton = ?) and (expires_at <= ? or user_id = ?) and expires_at is not null

delete from postern_usernames
where reserved_for = ?

delete from postern_usernames
where user_id = ?

delete from postern_usernames
where user_id = ? and expires_at is null

insert into postern_usernames (username, skeleton, network, by_admin, user_id, assigned_at)
values (?...)
on conflict do nothing

insert into postern_usernames (username, skeleton, reserved_for, network, assigned_at, expires_at)
values (?...)
on conflict do nothing

select count(*) as count, min(assigned_at) as oldest
from postern_usernames
where network = ? and assigned_at > ?

select username
from postern_usernames
where (username = ? or skeleton = ?) and (expires_at is null or expires_at > ?)

select username
from postern_usernames
where (username = ? or skeleton = ?) and (expires_at is null or expires_at > ?) and user_id is distinct from ?::uuid

select username, skeleton, assigned_at
from postern_usernames
where user_id = ? and expires_at is null

update postern_usernames
set expires_at = ?
where user_id = ? and expires_at is null

with claimed as (
  update postern_usernames
  set user_id = ?, reserved_for = ?, expires_at = ?, assigned_at = ?, network =
  case
  when ?::boolean then null
  else network end
  where reserved_for = ? and exists (
    select users.id
    from users
    where users.id = ? and encrypted_password <> '') and expires_at > ? and not exists (
    select present.username
    from postern_usernames as present
    where present.user_id = ? and present.expires_at is null)
  returning postern_usernames.username)
update users
set raw_app_meta_data = (
  case jsonb_typeof(raw_app_meta_data)
  when 'object' then raw_app_meta_data
  else '{}'::jsonb end) || jsonb_build_object('preferred_username', claimed.username)
from claimed
where users.id = ?

with cleared as (
  delete from postern_usernames
  where user_id = ? and expires_at is null and by_admin = false
  returning user_id)
update users
set raw_app_meta_data = (
  case jsonb_typeof(raw_app_meta_data)
  when 'object' then raw_app_meta_data
  else '{}'::jsonb end) - 'preferred_username', updated_at = ?
from cleared
where users.id = cleared.user_id
