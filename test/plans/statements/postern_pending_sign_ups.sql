delete from postern_pending_sign_ups
where user_id = ?

delete from postern_pending_sign_ups
where user_id = ?
returning token_hash, password_hash, user_metadata

delete from postern_pending_sign_ups
where user_id = ? and token_hash not in (
  select token_hash
  from one_time_tokens
  where user_id = ?)

insert into postern_pending_sign_ups (password_hash, user_metadata, created_at, user_id, token_hash)
values (?..., (
    select token_hash
    from one_time_tokens
    where user_id = ? and token_type = ?))
on conflict (user_id) do update
set password_hash =
case
when postern_pending_sign_ups.password_hash = excluded.password_hash then excluded.password_hash end, user_metadata = ?, created_at = ?, token_hash = excluded.token_hash

insert into postern_pending_sign_ups (password_hash, user_metadata, created_at, user_id, token_hash)
values (?..., (
    select token_hash
    from one_time_tokens
    where user_id = ? and token_type = ?))
on conflict (user_id) do update
set password_hash = ?, user_metadata = ?, created_at = ?, token_hash = excluded.token_hash

with dropped as (
  delete from postern_pending_sign_ups
  where user_id = ?), consumed as (
  delete from one_time_tokens
  where user_id = ?
  returning user_id, token_type), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select consumed.token_type
from consumed
