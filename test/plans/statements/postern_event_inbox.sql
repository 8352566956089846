insert into postern_event_inbox (id, type, user_id, data, created_at)
select told.id, told.type, told.user_id, told.data ||
case
when told.with_user then jsonb_build_object('user', (
    select jsonb_build_object( 'id', users.id, 'aud', coalesce(users.aud, ''), 'role', coalesce(users.role, ''), 'email', coalesce(users.email, ''), 'phone', coalesce(users.phone, ''), 'email_confirmed_at',
      case users.email_confirmed_at
      when 'infinity' then '9999-12-31T23:59:59.999Z'
      when '-infinity' then '0001-01-01T00:00:00.000Z'
      else to_char(users.email_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'phone_confirmed_at',
      case users.phone_confirmed_at
      when 'infinity' then '9999-12-31T23:59:59.999Z'
      when '-infinity' then '0001-01-01T00:00:00.000Z'
      else to_char(users.phone_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'is_anonymous', users.is_anonymous, 'is_sso_user', users.is_sso_user, 'app_metadata', (
        case jsonb_typeof(users.raw_app_meta_data)
        when 'object' then users.raw_app_meta_data
        else '{}'::jsonb end), 'user_metadata', (
        case jsonb_typeof(users.raw_user_meta_data)
        when 'object' then users.raw_user_meta_data
        else '{}'::jsonb end), 'banned_until',
      case users.banned_until
      when 'infinity' then '9999-12-31T23:59:59.999Z'
      when '-infinity' then '0001-01-01T00:00:00.000Z'
      else to_char(users.banned_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'created_at',
      case users.created_at
      when 'infinity' then '9999-12-31T23:59:59.999Z'
      when '-infinity' then '0001-01-01T00:00:00.000Z'
      else to_char(users.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'updated_at',
      case users.updated_at
      when 'infinity' then '9999-12-31T23:59:59.999Z'
      when '-infinity' then '0001-01-01T00:00:00.000Z'
      else to_char(users.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end) as user
    from users
    where users.id = told.user_id))
else '{}' end, ?::timestamptz
from jsonb_to_recordset(?::jsonb) as told (id uuid, type text, user_id uuid, data jsonb, with_user boolean)
where true
