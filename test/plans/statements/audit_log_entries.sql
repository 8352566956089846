insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
where ?::boolean and true

select count(*) as counted, (
  select (
    select reltuples::bigint
    from pg_class
    where oid = audit_log_entries.tableoid) as estimated
  from audit_log_entries
  limit ?) as estimated
from (
  select id
  from audit_log_entries
  limit ?) as counted

select count(*) as counted, (
  select (
    select reltuples::bigint
    from pg_class
    where oid = audit_log_entries.tableoid) as estimated
  from audit_log_entries
  limit ?) as estimated
from (
  select id
  from audit_log_entries
  where payload ->> 'action' ilike ?
  limit ?) as counted

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address
from audit_log_entries
order by created_at desc, id desc
limit ?
offset ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address
from audit_log_entries
where (payload ->> 'actor_username' ilike ? or payload ->> 'actor_name' ilike ?)
order by created_at desc, id desc
limit ?
offset ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address
from audit_log_entries
where payload ->> 'action' ilike ?
order by created_at desc, id desc
limit ?
offset ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address
from audit_log_entries
where payload ->> 'log_type' ilike ?
order by created_at desc, id desc
limit ?
offset ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address, (extract(epoch from created_at) * 1000000)::float8 as place
from audit_log_entries
order by created_at desc, id desc
limit ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address, (extract(epoch from created_at) * 1000000)::float8 as place
from audit_log_entries
where ((payload ->> 'actor_id' = ? or payload -> 'traits' ->> 'user_id' = ? or payload -> 'act' ->> 'sub' = ?) and payload ->> 'action' = ? and (created_at, id) < ('epoch'::timestamptz + ?::float8 * interval '1 microsecond', ?::uuid))
order by created_at desc, id desc
limit ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address, (extract(epoch from created_at) * 1000000)::float8 as place
from audit_log_entries
where ((payload ->> 'actor_id' = ? or payload -> 'traits' ->> 'user_id' = ? or payload -> 'act' ->> 'sub' = ?) and payload ->> 'action' = ? and created_at >= ?)
order by created_at desc, id desc
limit ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address, (extract(epoch from created_at) * 1000000)::float8 as place
from audit_log_entries
where ((payload ->> 'actor_id' = ? or payload -> 'traits' ->> 'user_id' = ? or payload -> 'act' ->> 'sub' = ?) and payload ->> 'action' = ?)
order by created_at desc, id desc
limit ?

select id, coalesce(payload, '{}'::json) as payload, created_at, ip_address, (extract(epoch from created_at) * 1000000)::float8 as place
from audit_log_entries
where (payload ->> 'actor_id' = ? or payload -> 'traits' ->> 'user_id' = ? or payload -> 'act' ->> 'sub' = ?)
order by created_at desc, id desc
limit ?

with audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and true), told as (
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
  where true)
select true as written
