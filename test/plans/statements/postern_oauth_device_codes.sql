delete from postern_oauth_device_codes
where id = ?

insert into postern_oauth_device_codes (id, client_id, scope, resources, interval_seconds, expires_at, user_code, user_id, session_id, auth_time, aal, amr, last_polled_at, created_at)
values (?...)
on conflict do nothing

select *
from postern_oauth_device_codes
where id = ?
for update

select *
from postern_oauth_device_codes
where user_code = ? and status = ? and expires_at > ?
for update

select user_id
from postern_oauth_device_codes
where id = ?

update postern_oauth_device_codes
set last_polled_at = ?
where id = ?

update postern_oauth_device_codes
set session_id = ?, auth_time = ?, aal = ?, amr = ?, status = ?, user_id = ?
where id = ?

update postern_oauth_device_codes
set status = ?, user_id = ?
where id = ?

with devices as (
  delete from postern_oauth_device_codes
  where (client_id = ? and user_id = ?))
delete from oauth_authorizations
where (client_id = ? and user_id = ?)

with devices as (
  delete from postern_oauth_device_codes
  where client_id = ?)
delete from oauth_authorizations
where client_id = ?

with devices as (
  delete from postern_oauth_device_codes
  where user_id = ?)
delete from oauth_authorizations
where (user_id = ? and status = ?)

with devices as (
  delete from postern_oauth_device_codes
  where user_id = ?)
delete from oauth_authorizations
where user_id = ?
