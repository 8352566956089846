delete from postern_known_devices
where user_id = ?

delete from postern_known_devices
where user_id = ? and device_hash <> ?

with attempt as (
  select coalesce(?::text in ((
        select device_hash
        from postern_known_devices
        where user_id = (
          select users.id
          from users
          where users.aud = ? and users.is_sso_user = false and users.email = ?)
        order by last_used_at desc
        limit 20)), false) as is_known), counted as (
  insert into postern_throttles (key, failures, blocked_until, updated_at, day_failures, day_began_at)
  select
  case
  when attempt.is_known then ?
  else ? end as key, 1 as failures, null::timestamptz as blocked_until, ?::timestamptz as updated_at, 1 as day_failures, ?::timestamptz as day_began_at
  from attempt
  on conflict (key) do update
  set failures =
  case
  when postern_throttles.updated_at <= ? then 1
  else postern_throttles.failures + 1 end, blocked_until =
  case
  when not postern_throttles.updated_at <= ? and postern_throttles.failures + 1 >= ?::int then ?::timestamptz + make_interval(secs => least(2 ^ least(postern_throttles.failures + 1 - ?::int, 20), ?)) end, updated_at = ?, day_failures =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then 1
  else postern_throttles.day_failures + 1 end, day_began_at =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then ?::timestamptz
  else postern_throttles.day_began_at end
  where coalesce(postern_throttles.blocked_until <= ?, true) and (coalesce(postern_throttles.day_began_at <= ?, true) or postern_throttles.day_failures < ?::int)
  returning key, blocked_until, day_failures)
select attempt.is_known as "isKnownDevice", counted.blocked_until as "blockedUntil", counted.day_failures as "dayFailures", counted.key is not null as "isCounted"
from attempt
left join counted on true

with attempt as (
  select coalesce(?::text in ((
        select device_hash
        from postern_known_devices
        where user_id = (
          select users.id
          from users
          where users.aud = ? and users.is_sso_user = false and users.email = ?)
        order by last_used_at desc
        limit 20)), false) as is_known), counted as (
  insert into postern_throttles (key, failures, blocked_until, updated_at, day_failures, day_began_at)
  select
  case
  when attempt.is_known then ?
  else ? end as key, 1 as failures, null::timestamptz as blocked_until, ?::timestamptz as updated_at, 1 as day_failures, ?::timestamptz as day_began_at
  from attempt
  on conflict (key) do update
  set failures =
  case
  when postern_throttles.updated_at <= ? then 1
  else postern_throttles.failures + 1 end, blocked_until =
  case
  when not postern_throttles.updated_at <= ? and postern_throttles.failures + 1 >= ?::int then ?::timestamptz + make_interval(secs => least(2 ^ least(postern_throttles.failures + 1 - ?::int, 20), ?)) end, updated_at = ?, day_failures =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then 1
  else postern_throttles.day_failures + 1 end, day_began_at =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then ?::timestamptz
  else postern_throttles.day_began_at end
  where coalesce(postern_throttles.blocked_until <= ?, true) and (coalesce(postern_throttles.day_began_at <= ?, true) or postern_throttles.day_failures < ?::int)
  returning key, blocked_until, day_failures)
select target_user.*, attempt.is_known as "isKnownDevice", counted.blocked_until as "blockedUntil", counted.day_failures as "dayFailures", counted.key is not null as "isCounted"
from attempt
left join counted on true
left join (
  select users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, (
    select coalesce(json_agg(agg), '[]')
    from (
      select identities.id, identities.provider_id, identities.user_id, identities.identity_data, identities.provider, identities.last_sign_in_at, identities.created_at, identities.updated_at, identities.email
      from identities
      where identities.user_id = users.id
      order by identities.created_at, identities.id) as agg) as identities, (
    select coalesce(json_agg(agg), '[]')
    from (
      select mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid
      from mfa_factors
      where mfa_factors.user_id = users.id
      order by mfa_factors.created_at) as agg) as factors
  from users
  where users.aud = ? and users.is_sso_user = false and users.email = ?) as target_user on true

with attempt as (
  select coalesce(?::text in ((
        select device_hash
        from postern_known_devices
        where user_id = (
          select users.id
          from users
          where users.aud = ? and users.is_sso_user = false and users.phone = ?)
        order by last_used_at desc
        limit 20)), false) as is_known), counted as (
  insert into postern_throttles (key, failures, blocked_until, updated_at, day_failures, day_began_at)
  select
  case
  when attempt.is_known then ?
  else ? end as key, 1 as failures, null::timestamptz as blocked_until, ?::timestamptz as updated_at, 1 as day_failures, ?::timestamptz as day_began_at
  from attempt
  on conflict (key) do update
  set failures =
  case
  when postern_throttles.updated_at <= ? then 1
  else postern_throttles.failures + 1 end, blocked_until =
  case
  when not postern_throttles.updated_at <= ? and postern_throttles.failures + 1 >= ?::int then ?::timestamptz + make_interval(secs => least(2 ^ least(postern_throttles.failures + 1 - ?::int, 20), ?)) end, updated_at = ?, day_failures =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then 1
  else postern_throttles.day_failures + 1 end, day_began_at =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then ?::timestamptz
  else postern_throttles.day_began_at end
  where coalesce(postern_throttles.blocked_until <= ?, true) and (coalesce(postern_throttles.day_began_at <= ?, true) or postern_throttles.day_failures < ?::int)
  returning key, blocked_until, day_failures)
select attempt.is_known as "isKnownDevice", counted.blocked_until as "blockedUntil", counted.day_failures as "dayFailures", counted.key is not null as "isCounted"
from attempt
left join counted on true

with attempt as (
  select coalesce(?::text in ((
        select device_hash
        from postern_known_devices
        where user_id = (
          select users.id
          from users
          where users.aud = ? and users.is_sso_user = false and users.phone = ?)
        order by last_used_at desc
        limit 20)), false) as is_known), counted as (
  insert into postern_throttles (key, failures, blocked_until, updated_at, day_failures, day_began_at)
  select
  case
  when attempt.is_known then ?
  else ? end as key, 1 as failures, null::timestamptz as blocked_until, ?::timestamptz as updated_at, 1 as day_failures, ?::timestamptz as day_began_at
  from attempt
  on conflict (key) do update
  set failures =
  case
  when postern_throttles.updated_at <= ? then 1
  else postern_throttles.failures + 1 end, blocked_until =
  case
  when not postern_throttles.updated_at <= ? and postern_throttles.failures + 1 >= ?::int then ?::timestamptz + make_interval(secs => least(2 ^ least(postern_throttles.failures + 1 - ?::int, 20), ?)) end, updated_at = ?, day_failures =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then 1
  else postern_throttles.day_failures + 1 end, day_began_at =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then ?::timestamptz
  else postern_throttles.day_began_at end
  where coalesce(postern_throttles.blocked_until <= ?, true) and (coalesce(postern_throttles.day_began_at <= ?, true) or postern_throttles.day_failures < ?::int)
  returning key, blocked_until, day_failures)
select target_user.*, attempt.is_known as "isKnownDevice", counted.blocked_until as "blockedUntil", counted.day_failures as "dayFailures", counted.key is not null as "isCounted"
from attempt
left join counted on true
left join (
  select users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, (
    select coalesce(json_agg(agg), '[]')
    from (
      select identities.id, identities.provider_id, identities.user_id, identities.identity_data, identities.provider, identities.last_sign_in_at, identities.created_at, identities.updated_at, identities.email
      from identities
      where identities.user_id = users.id
      order by identities.created_at, identities.id) as agg) as identities, (
    select coalesce(json_agg(agg), '[]')
    from (
      select mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid
      from mfa_factors
      where mfa_factors.user_id = users.id
      order by mfa_factors.created_at) as agg) as factors
  from users
  where users.aud = ? and users.is_sso_user = false and users.phone = ?) as target_user on true

with attempt as (
  select coalesce(?::text in ((
        select device_hash
        from postern_known_devices
        where user_id = ?
        order by last_used_at desc
        limit 20)), false) as is_known), counted as (
  insert into postern_throttles (key, failures, blocked_until, updated_at, day_failures, day_began_at)
  select
  case
  when attempt.is_known then ?
  else ? end as key, 1 as failures, null::timestamptz as blocked_until, ?::timestamptz as updated_at, 1 as day_failures, ?::timestamptz as day_began_at
  from attempt
  on conflict (key) do update
  set failures =
  case
  when postern_throttles.updated_at <= ? then 1
  else postern_throttles.failures + 1 end, blocked_until =
  case
  when not postern_throttles.updated_at <= ? and postern_throttles.failures + 1 >= ?::int then ?::timestamptz + make_interval(secs => least(2 ^ least(postern_throttles.failures + 1 - ?::int, 20), ?)) end, updated_at = ?, day_failures =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then 1
  else postern_throttles.day_failures + 1 end, day_began_at =
  case
  when coalesce(postern_throttles.day_began_at <= ?, true) then ?::timestamptz
  else postern_throttles.day_began_at end
  where coalesce(postern_throttles.blocked_until <= ?, true) and (coalesce(postern_throttles.day_began_at <= ?, true) or postern_throttles.day_failures < ?::int)
  returning key, blocked_until, day_failures)
select attempt.is_known as "isKnownDevice", counted.blocked_until as "blockedUntil", counted.day_failures as "dayFailures", counted.key is not null as "isCounted"
from attempt
left join counted on true

with known as (
  delete from postern_known_devices
  where user_id = ? and device_hash = ?)
delete from postern_sign_in_devices
where user_id = ? and device = ?
