delete from users
where id = ?

delete from users
where id in (
  select id
  from users
  where email = ?
  union all
  select id
  from users
  where phone = ?) and aud <> ? and is_sso_user = ? and email_confirmed_at is null and phone_confirmed_at is null and invited_at is null and last_sign_in_at is null and raw_user_meta_data ->> 'sub' = id::text
returning id

insert into users (instance_id, confirmation_token, recovery_token, email_change_token_new, email_change, id, aud, role, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at, last_sign_in_at, created_at, updated_at, banned_until, deleted_at, is_anonymous, is_sso_user, raw_app_meta_data, raw_user_meta_data)
select ?::uuid as instance_id, '' as confirmation_token, '' as recovery_token, '' as email_change_token_new, '' as email_change, id, aud, role, email, phone, encrypted_password, email_confirmed_at, phone_confirmed_at, invited_at, last_sign_in_at, created_at, updated_at, banned_until, deleted_at, is_anonymous, is_sso_user, raw_app_meta_data, raw_user_meta_data
from jsonb_to_recordset(?::jsonb) as given (id uuid, aud text, role text, email text, phone text, encrypted_password text, email_confirmed_at timestamptz, phone_confirmed_at timestamptz, invited_at timestamptz, last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz, banned_until timestamptz, deleted_at timestamptz, is_anonymous boolean, is_sso_user boolean, raw_app_meta_data jsonb, raw_user_meta_data jsonb)
on conflict do nothing
returning id

select
case
when (
  select reltuples
  from pg_class
  where oid = ((
      select users.tableoid as id
      from users
      order by users.id
      limit 1))) <= 10000 then (
  select count(*)
  from ((
      select users.id
      from users
      where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and (users.email like ? or lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255)) like lower(?::text)))
      limit 10001)) as matches) end as counted

select
case
when (
  select reltuples
  from pg_class
  where oid = ((
      select users.tableoid as id
      from users
      order by users.id
      limit 1))) <= 10000 then (
  select count(*)
  from ((
      select users.id
      from users
      where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
      limit 10001)) as matches) end as counted

select bucket.at, (
  select count(*)::float8 as count
  from users
  where (users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and users.created_at >= to_timestamp(bucket.at) and users.created_at < to_timestamp(bucket.at + 21600)) as count
from unnest(?::float8[]) as bucket(at)

select bucket.at, (
  select count(*)::float8 as count
  from users
  where (users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and users.created_at >= to_timestamp(bucket.at) and users.created_at < to_timestamp(bucket.at + 3600)) as count
from unnest(?::float8[]) as bucket(at)

select bucket.at, (
  select count(*)::float8 as count
  from users
  where (users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and users.created_at >= to_timestamp(bucket.at) and users.created_at < to_timestamp(bucket.at + 86400)) as count
from unnest(?::float8[]) as bucket(at)

select count(*) as counted
from (
  select users.id
  from users
  where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
  limit ?) as counts

select exists (
  select users.id
  from users
  where users.id = ?) as id, exists (
  select users.id
  from users
  where users.is_sso_user = ? and users.id is distinct from ?::uuid and users.phone = ?) as phone, exists (
  select owner.id
  from (
    select holders.id
    from users as holders
    where holders.email = ? and holders.is_sso_user = false
    union all
    select identities.user_id as id
    from identities
    where identities.email in (?) and identities.provider not in ('email', 'phone') and identities.identity_data ->> 'email_verified' = 'true') as owner
  inner join lateral (
    select users.aud, users.is_sso_user
    from users
    where users.id = owner.id
    limit 1) as target_user on true
  where target_user.is_sso_user = ? and owner.id is distinct from ?::uuid) as email

select found.*
from unnest((
    select ?::uuid[])) as requested(id)
inner join lateral (
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
  where users.id = requested.id
  limit 1) as found on true

select found.*
from unnest((
    select ?::uuid[])) as requested(id)
inner join lateral (
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
      order by mfa_factors.created_at) as agg) as factors, sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, (
    select coalesce(json_agg(agg), '[]')
    from (
      select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
      from mfa_amr_claims
      where mfa_amr_claims.session_id = sessions.id
      order by mfa_amr_claims.updated_at desc) as agg) as amr
  from users
  inner join sessions on sessions.user_id = users.id
  where sessions.id = requested.id
  limit 1) as found on true

select id
from users
where email = ? and is_sso_user = ?

select id
from users
where id = ?
for update

select id, email, phone
from users
where (id = any(?::uuid[]) or (email = any(?::text[]) and not is_sso_user) or phone = any(?::text[]))

select locked.id
from (
  select distinct id
  from unnest((
      select ?::uuid[])) as requested(id)
  order by id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

select owner.id
from (
  select holders.id
  from users as holders
  where holders.email = ? and holders.is_sso_user = false
  union all
  select identities.user_id as id
  from identities
  where identities.email in (?) and identities.provider not in ('email', 'phone') and identities.identity_data ->> 'email_verified' = 'true') as owner
inner join lateral (
  select users.aud, users.is_sso_user
  from users
  where users.id = owner.id
  limit 1) as target_user on true
where target_user.is_sso_user = ? and owner.id is distinct from ?::uuid and target_user.aud = ?
limit ?

select target_user.*
from (
  select holders.id
  from users as holders
  where holders.email = ? and holders.is_sso_user = false
  union all
  select identities.user_id as id
  from identities
  where identities.email in (?) and identities.provider not in ('email', 'phone') and identities.identity_data ->> 'email_verified' = 'true') as owner
inner join lateral (
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
  where users.id = owner.id
  limit 1) as target_user on true
where target_user.aud = ? and target_user.is_sso_user = false
order by target_user.email is not distinct from ? desc
limit 1

select users.id
from users
left join postern_admins on postern_admins.user_id = users.id
where users.id in (?) and (postern_admins.user_id is not null or users.role in (?...))
limit ?

select users.id
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and (users.email like ? or lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255)) like lower(?::text)))

select users.id
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)

select users.id
from users
where users.id = (
  select scim_users.user_id
  from scim_users
  where scim_users.id = ? and scim_users.sso_provider_id = ? and scim_users.deleted_at is null)
for update

select users.id
from users
where users.id = ? and (exists (
    select 1 as one
    from webauthn_credentials
    where user_id = ?) or exists (
    select 1 as one
    from identities
    where user_id = ? and provider not in ('email', ?)) or coalesce(users.encrypted_password, '') <> '' or users.phone_confirmed_at is not null)

select users.id
from users
where users.instance_id = '00000000-0000-0000-0000-000000000000' and users.aud = ? and ((users.instance_id = '00000000-0000-0000-0000-000000000000' and lower(users.email) = ?) or users.phone = ?)
limit 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and ((users.instance_id = '00000000-0000-0000-0000-000000000000' and lower(users.email) = ?) or users.phone = ?))
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and (users.email like ? or lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255)) like lower(?::text)))
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and (users.email like ? or lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255)) like lower(?::text))) and (users.email_confirmed_at is not null or users.phone_confirmed_at is not null)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and (users.email like ? or users.phone like ? or lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255)) like lower(?::text)))
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and users.email like ?)
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and users.id = ?)
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
order by users.created_at asc, users.id asc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
order by users.created_at asc, users.id asc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.banned_until is not null and users.banned_until > now())
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.created_at, users.id) < (
  case ?::float8
  when 9000000000000000 then 'infinity'
  when -9000000000000000 then '-infinity'
  else 'epoch'::timestamptz + ?::float8 * interval '1 microsecond' end, ?::uuid)
order by users.created_at desc, users.id desc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.created_at, users.id) > (
  case ?::float8
  when 9000000000000000 then 'infinity'
  when -9000000000000000 then '-infinity'
  else 'epoch'::timestamptz + ?::float8 * interval '1 microsecond' end, ?::uuid)
order by users.created_at asc, users.id asc
limit ?::bigint + 1

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.deleted_at is not null)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.email_confirmed_at is not null or users.phone_confirmed_at is not null)
order by users.created_at desc, users.id desc
limit 2

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.email_confirmed_at is not null or users.phone_confirmed_at is not null)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.email_confirmed_at is not null or users.phone_confirmed_at is not null) and (users.created_at, users.id) < (
  case ?::float8
  when 9000000000000000 then 'infinity'
  when -9000000000000000 then '-infinity'
  else 'epoch'::timestamptz + ?::float8 * interval '1 microsecond' end, ?::uuid)
order by users.created_at desc, users.id desc
limit 2

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.email_confirmed_at is null and users.phone_confirmed_at is null)
order by users.created_at desc, users.id desc
limit 1001

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.email_confirmed_at is null and users.phone_confirmed_at is null)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.invited_at is not null and users.email_confirmed_at is null)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.is_anonymous)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and (users.is_sso_user)
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and exists (
  select identities.id
  from identities
  where identities.user_id = users.id and identities.provider = 'custom:corp')
order by users.created_at desc, users.id desc
limit 11

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and exists (
  select identities.id
  from identities
  where identities.user_id = users.id and identities.provider = 'github')
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and users.created_at < ?
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?) and users.created_at >= ?
order by users.created_at desc, users.id desc
limit 51

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where users.id = any(array((
      select users.id
      from users
      where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ? and (users.email like ? or lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255)) like lower(?::text)))
      order by users.created_at desc, users.id desc
      limit ?::bigint + 1
      offset ?)))
order by users.created_at desc, users.id desc

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where users.id = any(array((
      select users.id
      from users
      where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
      order by users.created_at desc, users.id desc
      limit 51
      offset ?)))
order by users.created_at desc, users.id desc

select users.id as id, users.is_anonymous as is_anonymous, users.aud as aud, users.role as role, users.email as email, users.phone as phone, users.email_change as email_change, users.phone_change as phone_change, (users.email_confirmed_at at time zone 'utc')::text as email_confirmed_at, (users.invited_at at time zone 'utc')::text as invited_at, (users.phone_confirmed_at at time zone 'utc')::text as phone_confirmed_at, (users.confirmation_sent_at at time zone 'utc')::text as confirmation_sent_at, (users.confirmed_at at time zone 'utc')::text as confirmed_at, (users.recovery_sent_at at time zone 'utc')::text as recovery_sent_at, (users.email_change_sent_at at time zone 'utc')::text as email_change_sent_at, (users.phone_change_sent_at at time zone 'utc')::text as phone_change_sent_at, (users.reauthentication_sent_at at time zone 'utc')::text as reauthentication_sent_at, (users.last_sign_in_at at time zone 'utc')::text as last_sign_in_at, (users.created_at at time zone 'utc')::text as created_at, (users.updated_at at time zone 'utc')::text as updated_at, (users.banned_until at time zone 'utc')::text as banned_until, (users.deleted_at at time zone 'utc')::text as deleted_at, users.raw_app_meta_data::text as raw_app_meta_data, users.raw_user_meta_data::text as raw_user_meta_data,
case
when isfinite(users.created_at) then (extract(epoch from users.created_at) * 1000000)::bigint
when users.created_at = '-infinity' then -9000000000000000
else 9000000000000000 end as place
from users
where users.id = any(array((
      select users.id
      from users
      where ((users.instance_id = '00000000-0000-0000-0000-000000000000') is true and users.aud = ?)
      order by users.created_at desc, users.id desc
      limit ?::bigint + 1
      offset ?)))
order by users.created_at desc, users.id desc

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
where (users.email = ? and users.aud = ? and users.is_sso_user = false)

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
where (users.phone = ? and users.aud = ? and users.is_sso_user = false)

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
where users.id = ?

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
    order by mfa_factors.created_at) as agg) as factors, sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
    from mfa_amr_claims
    where mfa_amr_claims.session_id = sessions.id
    order by mfa_amr_claims.updated_at desc) as agg) as amr, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = sessions.id) as impersonated_by
from users
inner join sessions on sessions.user_id = users.id
where sessions.id = ?

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
    order by mfa_factors.created_at) as agg) as factors, sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
    from mfa_amr_claims
    where mfa_amr_claims.session_id = sessions.id
    order by mfa_amr_claims.updated_at desc) as agg) as amr, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = sessions.id) as impersonated_by, (
  select json_build_object( 'id', postern_organizations.id, 'slug', postern_organizations.slug, 'role', postern_organization_members.role, 'permissions', (
      select array_agg(distinct granted.permission) as permissions
      from postern_organization_roles
      inner join unnest(postern_organization_roles.permissions) as granted(permission) on true
      where postern_organization_roles.name = postern_organization_members.role and (postern_organization_roles.organization_id = postern_organizations.id or postern_organization_roles.organization_id is null))) as active
  from postern_organization_members
  inner join postern_organizations on postern_organizations.id = organization_id
  where postern_organization_members.user_id = users.id and postern_organization_members.organization_id = coalesce(?::uuid, (
      select postern_session_organizations.organization_id
      from postern_session_organizations
      where postern_session_organizations.session_id = sessions.id)) and postern_organization_members.status = 'active' and postern_organizations.deleted_at is null) as organization
from users
inner join sessions on sessions.user_id = users.id
where sessions.id = ?

select users.id, users.email, users.email_confirmed_at, users.phone, users.phone_confirmed_at
from postern_usernames
inner join users on users.id = postern_usernames.user_id
where postern_usernames.username = ? and postern_usernames.expires_at is null and users.aud = ? and users.is_sso_user = false

select users.id, users.email, users.email_confirmed_at, users.phone, users.phone_confirmed_at, users.invited_at, users.is_sso_user, users.raw_user_meta_data
from users
where (users.phone = ? and users.aud = ? and users.is_sso_user = false)

update users
set banned_until = ?, updated_at = ?
where id = ?

update users
set confirmation_sent_at = ?, email = ?, email_change = ?, email_change_confirm_status = ?, email_change_sent_at = ?, encrypted_password = ?, phone_change = ?, phone_change_sent_at = ?, reauthentication_sent_at = ?, recovery_sent_at = ?, role = ?, updated_at = ?
where id = ?

update users
set confirmation_sent_at = ?, email = ?, email_change = ?, email_change_confirm_status = ?, email_change_sent_at = ?, encrypted_password = ?, phone_change = ?, phone_change_sent_at = ?, reauthentication_sent_at = ?, recovery_sent_at = ?, updated_at = ?
where id = ?

update users
set confirmation_sent_at = ?, email_change = ?, email_change_confirm_status = ?, email_change_sent_at = ?, encrypted_password = ?, phone_change = ?, phone_change_sent_at = ?, reauthentication_sent_at = ?, recovery_sent_at = ?, updated_at = ?
where id = ?

update users
set confirmation_sent_at = ?, email_change = ?, email_change_confirm_status = ?, email_change_sent_at = ?, phone_change = ?, phone_change_sent_at = ?, reauthentication_sent_at = ?, recovery_sent_at = ?, updated_at = ?
where id = ?

update users
set confirmation_sent_at = ?, invited_at = ?, updated_at = ?
where id = ?

update users
set confirmation_sent_at = ?, updated_at = ?
where id = ?

update users
set email = ?, email_change = ?, email_change_confirm_status = ?, email_confirmed_at = ?, updated_at = ?
where id = ?

update users
set email = ?, email_change = ?, email_change_confirm_status = ?, role = ?, updated_at = ?
where id = ?

update users
set email = ?, email_change = ?, email_change_confirm_status = ?, updated_at = ?
where id = ?

update users
set email = ?, email_confirmed_at = ?, updated_at = ?
where id = ?

update users
set email = translate(encode(sha256(convert_to(id::text || coalesce(email, ''), 'UTF8')), 'base64'), '+/=', '-_'), phone = left(translate(encode(sha256(convert_to(id::text || coalesce(phone, ''), 'UTF8')), 'base64'), '+/=', '-_'), 15), email_change = translate(encode(sha256(convert_to(id::text || coalesce(email_change, ''), 'UTF8')), 'base64'), '+/=', '-_'), phone_change = left(translate(encode(sha256(convert_to(id::text || coalesce(phone_change, ''), 'UTF8')), 'base64'), '+/=', '-_'), 15), encrypted_password = ?, raw_app_meta_data = ?, raw_user_meta_data = ?, deleted_at = ?, updated_at = ?
where id = ?

update users
set email_change = ?, email_change_confirm_status = ?
where id = ? and email_change <> ? and is_anonymous = ?
returning id

update users
set email_change = ?, email_change_confirm_status = ?
where id = ? and email_change <> ? and is_anonymous = ? and coalesce(email, '') = ''
returning id

update users
set email_change = ?, email_change_confirm_status = ?, email_change_sent_at = ?, updated_at = ?
where id = ?

update users
set email_change = ?, email_change_confirm_status = ?, encrypted_password = ?, phone_change = ?, updated_at = ?
where id = ?

update users
set email_change = ?, email_change_confirm_status = ?, phone_change = ?, updated_at = ?
where id = ?

update users
set email_change = ?, updated_at = ?
where id = ?

update users
set email_change_confirm_status = ?, email_change_sent_at = ?, updated_at = ?
where id = ?

update users
set email_change_confirm_status = ?, updated_at = ?
where id = ?

update users
set encrypted_password = ?
where (email = ? or phone = ?) and email_confirmed_at is null and phone_confirmed_at is null and invited_at is null and encrypted_password is distinct from ? and not exists (
  select id
  from sessions
  where user_id = users.id)

update users
set encrypted_password = ?, updated_at = ?
where id = ?

update users
set encrypted_password = ?, updated_at = ?
where id = ? and encrypted_password = ?

update users
set phone = ?, phone_change = ?, updated_at = ?
where id = ?

update users
set phone = ?, phone_confirmed_at = ?, updated_at = ?
where id = ?

update users
set phone_change = ?
where id = ? and phone_change <> ?

update users
set phone_change = ?, phone_change_sent_at = ?, updated_at = ?
where id = ?

update users
set phone_confirmed_at = ?, is_anonymous = false, phone = ?, phone_change = ?, updated_at = ?
where id = ?
returning email

update users
set phone_confirmed_at = coalesce(phone_confirmed_at, ?), is_anonymous = ?, updated_at = ?
where id = ?
returning email

update users
set phone_confirmed_at = coalesce(phone_confirmed_at, ?), is_anonymous = false, updated_at = ?, raw_user_meta_data = ((
    case jsonb_typeof(raw_user_meta_data)
    when 'object' then raw_user_meta_data
    else '{}'::jsonb end) || ?::jsonb) - ?::text[]
where id = ?
returning email

update users
set raw_app_meta_data = (
  case jsonb_typeof(raw_app_meta_data)
  when 'object' then raw_app_meta_data
  else '{}'::jsonb end) - 'preferred_username', updated_at = ?
where id = ?

update users
set raw_app_meta_data = (
  case jsonb_typeof(raw_app_meta_data)
  when 'object' then raw_app_meta_data
  else '{}'::jsonb end) || jsonb_build_object('preferred_username', ?::text), updated_at = ?
where id = ?

update users
set raw_user_meta_data = ?, updated_at = ?
where id = ?

update users
set reauthentication_sent_at = ?, updated_at = ?
where id = ?

update users
set recovery_sent_at = ?, updated_at = ?
where id = ?

update users
set role = ?, updated_at = ?
where id = ?

update users
set updated_at = ?
where id = ?

update users
set updated_at = ?, raw_app_meta_data = ((
    case jsonb_typeof(raw_app_meta_data)
    when 'object' then raw_app_meta_data
    else '{}'::jsonb end) || ?::jsonb) - ?::text[]
where id = ? and coalesce(octet_length((((
          case jsonb_typeof(raw_app_meta_data)
          when 'object' then raw_app_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0)) and coalesce(octet_length((((
          case jsonb_typeof(raw_app_meta_data)
          when 'object' then raw_app_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0))

update users
set updated_at = ?, raw_app_meta_data = ((
    case jsonb_typeof(raw_app_meta_data)
    when 'object' then raw_app_meta_data
    else '{}'::jsonb end) || ?::jsonb) - ?::text[], raw_user_meta_data = ((
    case jsonb_typeof(raw_user_meta_data)
    when 'object' then raw_user_meta_data
    else '{}'::jsonb end) || ?::jsonb) - ?::text[]
where id = ? and coalesce(octet_length((((
          case jsonb_typeof(raw_app_meta_data)
          when 'object' then raw_app_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0)) and coalesce(octet_length((((
          case jsonb_typeof(raw_user_meta_data)
          when 'object' then raw_user_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_user_meta_data)::text), 0)) and coalesce(octet_length((((
          case jsonb_typeof(raw_app_meta_data)
          when 'object' then raw_app_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) + coalesce(octet_length((((
          case jsonb_typeof(raw_user_meta_data)
          when 'object' then raw_user_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0))

update users
set updated_at = ?, raw_user_meta_data = ((
    case jsonb_typeof(raw_user_meta_data)
    when 'object' then raw_user_meta_data
    else '{}'::jsonb end) || ?::jsonb) - ?::text[]
where id = ? and coalesce(octet_length((((
          case jsonb_typeof(raw_user_meta_data)
          when 'object' then raw_user_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_user_meta_data)::text), 0)) and coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((((
          case jsonb_typeof(raw_user_meta_data)
          when 'object' then raw_user_meta_data
          else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0))

with account as (
  update users
  set encrypted_password =
  case
  when ?::boolean or (coalesce(encrypted_password, '') = '' and confirmation_sent_at is null) or ( encrypted_password = ?::text and not exists (
      select user_id
      from postern_pending_sign_ups
      where user_id = ? and password_hash is distinct from ?)) then ?::text end, raw_user_meta_data = ?, raw_app_meta_data = (
    case jsonb_typeof(raw_app_meta_data)
    when 'object' then raw_app_meta_data
    else '{}'::jsonb end) || jsonb_build_object( 'provider', ?::text, 'providers', jsonb_build_array(?::text)), updated_at = ?
  where id = ? and ?::text in (email, phone) and email_confirmed_at is null and phone_confirmed_at is null and invited_at is null and not (exists (
      select user_id
      from sessions
      where user_id = ?) or exists (
      select user_id
      from mfa_factors
      where user_id = ?) or exists (
      select user_id
      from webauthn_credentials
      where user_id = ?) or exists (
      select user_id
      from identities
      where user_id = ? and provider <> ?))
  returning users.id), pending as (
  delete from postern_pending_sign_ups
  where user_id in (
    select account.id
    from account)), devices as (
  delete from postern_known_devices
  where user_id in (
    select account.id
    from account)), flows as (
  delete from flow_state
  where user_id in (
    select account.id
    from account) and auth_code_issued_at is not null), identity as (
  insert into identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
  select gen_random_uuid() as id, ? as user_id, ? as provider, ? as provider_id, ? as identity_data, ? as last_sign_in_at, ? as created_at, ? as updated_at
  from (
    select) as once
  where exists (
    select
    from account)
  on conflict (provider_id, provider) do update
  set identity_data = (
    case jsonb_typeof(identities.identity_data)
    when 'object' then identities.identity_data
    else '{}'::jsonb end) || ?::jsonb, updated_at = ?
  returning id)
select id, ?::jsonb as metadata, ?::jsonb as "identityData"
from identity

with confirmed as (
  update users
  set email_confirmed_at = ?, is_anonymous = false, email = ?, updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ?
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), assumed as (
  insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
  select id, email, ?...
  from confirmed
  where email is not null and ?::text is not null
  on conflict do nothing)
select *, exists (
  select
  from pg_trigger
  where tgrelid = confirmed.table_id and not tgisinternal) as has_triggers
from confirmed

with confirmed as (
  update users
  set email_confirmed_at = coalesce(email_confirmed_at, ?), is_anonymous = ?, updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ?
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), assumed as (
  insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
  select id, email, ?...
  from confirmed
  where email is not null and ?::text is not null
  on conflict do nothing)
select *, exists (
  select
  from pg_trigger
  where tgrelid = confirmed.table_id and not tgisinternal) as has_triggers
from confirmed

with confirmed as (
  update users
  set email_confirmed_at = coalesce(email_confirmed_at, ?), is_anonymous = false, email = ?, email_change = ?, email_change_confirm_status = ?, updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ?
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), assumed as (
  insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
  select id, email, ?...
  from confirmed
  where email is not null and ?::text is not null
  on conflict do nothing)
select *, exists (
  select
  from pg_trigger
  where tgrelid = confirmed.table_id and not tgisinternal) as has_triggers
from confirmed

with confirmed as (
  update users
  set email_confirmed_at = coalesce(email_confirmed_at, ?), is_anonymous = false, email = ?, updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ?
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), assumed as (
  insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
  select id, email, ?...
  from confirmed
  where email is not null and ?::text is not null
  on conflict do nothing)
select *, exists (
  select
  from pg_trigger
  where tgrelid = confirmed.table_id and not tgisinternal) as has_triggers
from confirmed

with confirmed as (
  update users
  set email_confirmed_at = coalesce(email_confirmed_at, ?), is_anonymous = false, updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ?
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), assumed as (
  insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
  select id, email, ?...
  from confirmed
  where email is not null and ?::text is not null
  on conflict do nothing)
select *, exists (
  select
  from pg_trigger
  where tgrelid = confirmed.table_id and not tgisinternal) as has_triggers
from confirmed

with edited as (
  update users
  set updated_at = ?
  where id = ? and true
  returning raw_app_meta_data, raw_user_meta_data, updated_at), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from edited))
select raw_app_meta_data, raw_user_meta_data, updated_at
from edited

with edited as (
  update users
  set updated_at = ?
  where id = ? and true
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from edited)), told as (
  insert into postern_event_inbox (id, type, user_id, data, created_at)
  select told.id, told.type, told.user_id, told.data ||
  case
  when told.with_user then jsonb_build_object('user', (
      select jsonb_build_object( 'id', edited.id, 'aud', coalesce(edited.aud, ''), 'role', coalesce(edited.role, ''), 'email', coalesce(edited.email, ''), 'phone', coalesce(edited.phone, ''), 'email_confirmed_at',
        case edited.email_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.email_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'phone_confirmed_at',
        case edited.phone_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.phone_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'is_anonymous', edited.is_anonymous, 'is_sso_user', edited.is_sso_user, 'app_metadata', (
          case jsonb_typeof(edited.raw_app_meta_data)
          when 'object' then edited.raw_app_meta_data
          else '{}'::jsonb end), 'user_metadata', (
          case jsonb_typeof(edited.raw_user_meta_data)
          when 'object' then edited.raw_user_meta_data
          else '{}'::jsonb end), 'banned_until',
        case edited.banned_until
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.banned_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'created_at',
        case edited.created_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'updated_at',
        case edited.updated_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end) as user
      from edited))
  else '{}' end, ?::timestamptz
  from jsonb_to_recordset(?::jsonb) as told (id uuid, type text, user_id uuid, data jsonb, with_user boolean)
  where exists (
    select
    from edited))
select raw_app_meta_data, raw_user_meta_data, updated_at
from edited

with edited as (
  update users
  set updated_at = ?, raw_app_meta_data = ((
      case jsonb_typeof(raw_app_meta_data)
      when 'object' then raw_app_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ? and coalesce(octet_length((((
            case jsonb_typeof(raw_app_meta_data)
            when 'object' then raw_app_meta_data
            else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0)) and coalesce(octet_length((((
            case jsonb_typeof(raw_app_meta_data)
            when 'object' then raw_app_meta_data
            else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0))
  returning raw_app_meta_data, raw_user_meta_data, updated_at), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from edited))
select raw_app_meta_data, raw_user_meta_data, updated_at
from edited

with edited as (
  update users
  set updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ? and coalesce(octet_length((((
            case jsonb_typeof(raw_user_meta_data)
            when 'object' then raw_user_meta_data
            else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_user_meta_data)::text), 0)) and coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((((
            case jsonb_typeof(raw_user_meta_data)
            when 'object' then raw_user_meta_data
            else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0))
  returning raw_app_meta_data, raw_user_meta_data, updated_at), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from edited))
select raw_app_meta_data, raw_user_meta_data, updated_at
from edited

with edited as (
  update users
  set updated_at = ?, raw_user_meta_data = ((
      case jsonb_typeof(raw_user_meta_data)
      when 'object' then raw_user_meta_data
      else '{}'::jsonb end) || ?::jsonb) - ?::text[]
  where id = ? and coalesce(octet_length((((
            case jsonb_typeof(raw_user_meta_data)
            when 'object' then raw_user_meta_data
            else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_user_meta_data)::text), 0)) and coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((((
            case jsonb_typeof(raw_user_meta_data)
            when 'object' then raw_user_meta_data
            else '{}'::jsonb end) || ?::jsonb) - ?::text[])::text), 0) <= greatest(?, coalesce(octet_length((raw_app_meta_data)::text), 0) + coalesce(octet_length((raw_user_meta_data)::text), 0))
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from edited)), told as (
  insert into postern_event_inbox (id, type, user_id, data, created_at)
  select told.id, told.type, told.user_id, told.data ||
  case
  when told.with_user then jsonb_build_object('user', (
      select jsonb_build_object( 'id', edited.id, 'aud', coalesce(edited.aud, ''), 'role', coalesce(edited.role, ''), 'email', coalesce(edited.email, ''), 'phone', coalesce(edited.phone, ''), 'email_confirmed_at',
        case edited.email_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.email_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'phone_confirmed_at',
        case edited.phone_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.phone_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'is_anonymous', edited.is_anonymous, 'is_sso_user', edited.is_sso_user, 'app_metadata', (
          case jsonb_typeof(edited.raw_app_meta_data)
          when 'object' then edited.raw_app_meta_data
          else '{}'::jsonb end), 'user_metadata', (
          case jsonb_typeof(edited.raw_user_meta_data)
          when 'object' then edited.raw_user_meta_data
          else '{}'::jsonb end), 'banned_until',
        case edited.banned_until
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.banned_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'created_at',
        case edited.created_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'updated_at',
        case edited.updated_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(edited.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end) as user
      from edited))
  else '{}' end, ?::timestamptz
  from jsonb_to_recordset(?::jsonb) as told (id uuid, type text, user_id uuid, data jsonb, with_user boolean)
  where exists (
    select
    from edited))
select raw_app_meta_data, raw_user_meta_data, updated_at
from edited

with inserted as (
  insert into users (id, aud, role, email, phone, encrypted_password, is_anonymous, is_sso_user, email_confirmed_at, phone_confirmed_at, banned_until, instance_id, confirmation_token, recovery_token, email_change_token_new, email_change, raw_app_meta_data, raw_user_meta_data, last_sign_in_at, created_at, updated_at)
  values (?..., '', '', '', '', ?...)
  on conflict do nothing
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous), added as (
  insert into identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
  select gen_random_uuid(), inserted.id, given.provider, given.provider_id, given.identity_data, given.at, given.at, given.at
  from inserted, jsonb_to_recordset(?::jsonb) as given (provider text, provider_id text, identity_data jsonb, at timestamptz)
  returning identities.id, identities.provider_id, identities.user_id, identities.identity_data, identities.provider, identities.last_sign_in_at, identities.created_at, identities.updated_at, identities.email)
select *, (
  select coalesce(json_agg(added
      order by created_at), '[]')
  from added) as identities
from inserted

with inserted as (
  insert into users (id, aud, role, email, phone, encrypted_password, is_anonymous, is_sso_user, email_confirmed_at, phone_confirmed_at, banned_until, instance_id, confirmation_token, recovery_token, email_change_token_new, email_change, raw_app_meta_data, raw_user_meta_data, last_sign_in_at, created_at, updated_at)
  values (?..., '', '', '', '', ?...)
  on conflict do nothing
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous), added as (
  insert into identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
  select gen_random_uuid(), inserted.id, given.provider, given.provider_id, given.identity_data, given.at, given.at, given.at
  from inserted, jsonb_to_recordset(?::jsonb) as given (provider text, provider_id text, identity_data jsonb, at timestamptz)
  returning identities.id, identities.provider_id, identities.user_id, identities.identity_data, identities.provider, identities.last_sign_in_at, identities.created_at, identities.updated_at, identities.email), told as (
  insert into postern_event_inbox (id, type, user_id, data, created_at)
  select told.id, told.type, told.user_id, told.data ||
  case
  when told.with_user then jsonb_build_object('user', (
      select jsonb_build_object( 'id', inserted.id, 'aud', coalesce(inserted.aud, ''), 'role', coalesce(inserted.role, ''), 'email', coalesce(inserted.email, ''), 'phone', coalesce(inserted.phone, ''), 'email_confirmed_at',
        case inserted.email_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(inserted.email_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'phone_confirmed_at',
        case inserted.phone_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(inserted.phone_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'is_anonymous', inserted.is_anonymous, 'is_sso_user', inserted.is_sso_user, 'app_metadata', (
          case jsonb_typeof(inserted.raw_app_meta_data)
          when 'object' then inserted.raw_app_meta_data
          else '{}'::jsonb end), 'user_metadata', (
          case jsonb_typeof(inserted.raw_user_meta_data)
          when 'object' then inserted.raw_user_meta_data
          else '{}'::jsonb end), 'banned_until',
        case inserted.banned_until
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(inserted.banned_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'created_at',
        case inserted.created_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(inserted.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'updated_at',
        case inserted.updated_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(inserted.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end) as user
      from inserted))
  else '{}' end, ?::timestamptz
  from jsonb_to_recordset(?::jsonb) as told (id uuid, type text, user_id uuid, data jsonb, with_user boolean)
  where exists (
    select
    from inserted))
select *, (
  select coalesce(json_agg(added
      order by created_at), '[]')
  from added) as identities
from inserted

with locked as (
  select users.id
  from users
  where users.id = ?
  for key share)
delete from mfa_challenges
where id = ? and exists (
  select locked.id
  from locked)

with locked as (
  select users.id
  from users
  where users.id = ?
  for key share), asked as (
  update mfa_factors
  set last_challenged_at = ?::timestamptz + floor(random() * 1000) * interval '1 microsecond', updated_at = ?
  where id = ? and user_id = (
    select locked.id
    from locked)
  returning id), made as (
  insert into mfa_challenges (id, factor_id, created_at, ip_address, otp_code, web_authn_session_data)
  select ?::uuid as id, asked.id as factor_id, ?::timestamptz as created_at, ?::inet as ip_address, ? as otp_code, ?::jsonb as web_authn_session_data
  from asked
  returning id), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from asked))
insert into postern_factor_challenges (challenge_id, session_id, ceremony, challenge)
select made.id as challenge_id, ?::uuid as session_id, ?::text as ceremony, ?::text as challenge
from made
returning challenge_id

with target_user as (
  insert into users (id, aud, role, email, phone, encrypted_password, is_anonymous, is_sso_user, email_confirmed_at, phone_confirmed_at, banned_until, instance_id, confirmation_token, recovery_token, email_change_token_new, email_change, raw_app_meta_data, raw_user_meta_data, last_sign_in_at, created_at, updated_at)
  values (?..., '', '', '', '', ?...)
  on conflict do nothing
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user))
select target_user.*, exists (
  select
  from pg_trigger
  where tgrelid = target_user.table_id and not tgisinternal) as has_triggers
from target_user

with target_user as (
  insert into users (id, aud, role, email, phone, encrypted_password, is_anonymous, is_sso_user, email_confirmed_at, phone_confirmed_at, banned_until, instance_id, confirmation_token, recovery_token, email_change_token_new, email_change, raw_app_meta_data, raw_user_meta_data, last_sign_in_at, created_at, updated_at)
  values (?..., '', '', '', '', ?...)
  on conflict do nothing
  returning users.id, users.aud, users.role, users.email, users.encrypted_password, users.email_confirmed_at, users.invited_at, users.phone, users.phone_confirmed_at, users.confirmation_sent_at, users.confirmed_at, users.recovery_sent_at, users.email_change, users.email_change_sent_at, users.email_change_confirm_status, users.phone_change, users.phone_change_sent_at, users.reauthentication_sent_at, users.last_sign_in_at, users.raw_app_meta_data, users.raw_user_meta_data, users.created_at, users.updated_at, users.banned_until, users.deleted_at, users.is_sso_user, users.is_anonymous, users.tableoid as table_id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), told as (
  insert into postern_event_inbox (id, type, user_id, data, created_at)
  select told.id, told.type, told.user_id, told.data ||
  case
  when told.with_user then jsonb_build_object('user', (
      select jsonb_build_object( 'id', target_user.id, 'aud', coalesce(target_user.aud, ''), 'role', coalesce(target_user.role, ''), 'email', coalesce(target_user.email, ''), 'phone', coalesce(target_user.phone, ''), 'email_confirmed_at',
        case target_user.email_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(target_user.email_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'phone_confirmed_at',
        case target_user.phone_confirmed_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(target_user.phone_confirmed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'is_anonymous', target_user.is_anonymous, 'is_sso_user', target_user.is_sso_user, 'app_metadata', (
          case jsonb_typeof(target_user.raw_app_meta_data)
          when 'object' then target_user.raw_app_meta_data
          else '{}'::jsonb end), 'user_metadata', (
          case jsonb_typeof(target_user.raw_user_meta_data)
          when 'object' then target_user.raw_user_meta_data
          else '{}'::jsonb end), 'banned_until',
        case target_user.banned_until
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(target_user.banned_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'created_at',
        case target_user.created_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(target_user.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end, 'updated_at',
        case target_user.updated_at
        when 'infinity' then '9999-12-31T23:59:59.999Z'
        when '-infinity' then '0001-01-01T00:00:00.000Z'
        else to_char(target_user.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end)
      from target_user))
  else '{}' end, ?::timestamptz
  from jsonb_to_recordset(?::jsonb) as told (id uuid, type text, user_id uuid, data jsonb, with_user boolean)
  where exists (
    select
    from target_user))
select target_user.*, exists (
  select
  from pg_trigger
  where tgrelid = target_user.table_id and not tgisinternal) as has_triggers
from target_user

with target_user as (
  select users.id
  from users
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true)
  for share), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, oauth_client_id, scopes, factor_id, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as oauth_client_id, ? as scopes, ? as factor_id, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), granted as (
  insert into postern_oauth_sessions (session_id, resources, auth_time, userinfo_claims)
  select ? as session_id, ?::text[] as resources, ?::timestamptz as auth_time, ?::text[] as userinfo_claims
  from target_user)
select target_user.id
from target_user

with target_user as (
  select users.id
  from users
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and not exists (
    select 1 as one
    from postern_deactivations
    where postern_deactivations.user_id = users.id)
  for share), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, oauth_client_id, scopes, factor_id, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as oauth_client_id, ? as scopes, ? as factor_id, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), granted as (
  insert into postern_oauth_sessions (session_id, resources, auth_time, userinfo_claims)
  select ? as session_id, ?::text[] as resources, ?::timestamptz as auth_time, ?::text[] as userinfo_claims
  from target_user)
select target_user.id
from target_user

with target_user as (
  select users.id, users.last_sign_in_at
  from users
  where users.id = ?
  for update), noted as (
  insert into postern_sign_in_devices (user_id, device, last_used_at)
  select target_user.id, ?::text as device, ?::timestamptz as last_used_at
  from target_user
  on conflict (user_id, device) do update
  set last_used_at = ?::timestamptz
  returning postern_sign_in_devices.xmax = 0 as is_new)
select noted.is_new as "isNew", target_user.last_sign_in_at is not null as "hasSignedIn", exists ((
    select known.user_id
    from postern_known_devices as known
    where known.user_id = target_user.id and known.device_hash = ?)) as "isKnown", ((
    select count(*)::int as count
    from postern_sign_in_devices as other
    where other.user_id = target_user.id and other.last_used_at > ?::timestamptz - interval '1 day')) as "usedToday", array((
    select distinct sessions.user_agent
    from sessions
    where sessions.user_id = target_user.id and sessions.user_agent is not null and not exists (
      select imp.session_id
      from postern_impersonations as imp
      where imp.session_id = sessions.id)
    limit 1000)) as "userAgents"
from target_user, noted

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), device as (
  insert into postern_known_devices (user_id, device_hash, last_used_at)
  select ?::uuid as user_id, ?::text as device_hash, ?::timestamptz as last_used_at
  where ?::text is not null and exists (
    select
    from target_user)
  on conflict (user_id, device_hash) do update
  set last_used_at = ?
  where postern_known_devices.last_used_at < ?::timestamptz - interval '1 day')
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), device as (
  insert into postern_known_devices (user_id, device_hash, last_used_at)
  select ?::uuid as user_id, ?::text as device_hash, ?::timestamptz as last_used_at
  where ?::text is not null and exists (
    select
    from target_user)
  on conflict (user_id, device_hash) do update
  set last_used_at = ?
  where postern_known_devices.last_used_at < ?::timestamptz - interval '1 day'), by_sms as (
  insert into postern_session_proofs (session_id, by_sms)
  select ? as session_id, true as by_sms
  from target_user)
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), device as (
  insert into postern_known_devices (user_id, device_hash, last_used_at)
  select ?::uuid as user_id, ?::text as device_hash, ?::timestamptz as last_used_at
  where ?::text is not null and exists (
    select
    from target_user)
  on conflict (user_id, device_hash) do update
  set last_used_at = ?
  where postern_known_devices.last_used_at < ?::timestamptz - interval '1 day'), told as (
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
  where exists (
    select
    from target_user))
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), impersonated as (
  insert into postern_impersonations (session_id, impersonated_by)
  select ? as session_id, ?::text as impersonated_by
  from target_user)
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and not exists (
    select 1 as one
    from postern_deactivations
    where postern_deactivations.user_id = users.id) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), device as (
  insert into postern_known_devices (user_id, device_hash, last_used_at)
  select ?::uuid as user_id, ?::text as device_hash, ?::timestamptz as last_used_at
  where ?::text is not null and exists (
    select
    from target_user)
  on conflict (user_id, device_hash) do update
  set last_used_at = ?
  where postern_known_devices.last_used_at < ?::timestamptz - interval '1 day')
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and not exists (
    select 1 as one
    from postern_deactivations
    where postern_deactivations.user_id = users.id) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), device as (
  insert into postern_known_devices (user_id, device_hash, last_used_at)
  select ?::uuid as user_id, ?::text as device_hash, ?::timestamptz as last_used_at
  where ?::text is not null and exists (
    select
    from target_user)
  on conflict (user_id, device_hash) do update
  set last_used_at = ?
  where postern_known_devices.last_used_at < ?::timestamptz - interval '1 day'), by_sms as (
  insert into postern_session_proofs (session_id, by_sms)
  select ? as session_id, true as by_sms
  from target_user), told as (
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
  where exists (
    select
    from target_user))
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and not exists (
    select 1 as one
    from postern_deactivations
    where postern_deactivations.user_id = users.id) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), device as (
  insert into postern_known_devices (user_id, device_hash, last_used_at)
  select ?::uuid as user_id, ?::text as device_hash, ?::timestamptz as last_used_at
  where ?::text is not null and exists (
    select
    from target_user)
  on conflict (user_id, device_hash) do update
  set last_used_at = ?
  where postern_known_devices.last_used_at < ?::timestamptz - interval '1 day'), told as (
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
  where exists (
    select
    from target_user))
select target_user.id
from target_user

with target_user as (
  update users
  set updated_at = ?, last_sign_in_at =
  case
  when ?::text is null then ?
  else users.last_sign_in_at end
  where users.id = ? and users.deleted_at is null and coalesce(users.banned_until <= ?, true) and not exists (
    select 1 as one
    from postern_deactivations
    where postern_deactivations.user_id = users.id) and coalesce(users.encrypted_password = ?... is null)
  returning users.id), opened as (
  insert into sessions (id, user_id, aal, tag, user_agent, ip, not_after, refresh_token_hmac_key, created_at, updated_at, refresh_token_counter)
  select ? as id, ? as user_id, ? as aal, ? as tag, ? as user_agent, ? as ip, ? as not_after, ? as refresh_token_hmac_key, ? as created_at, ? as updated_at, 0 as refresh_token_counter
  from target_user), amr as (
  insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
  select gen_random_uuid() as id, ? as session_id, ? as authentication_method, ? as created_at, ? as updated_at
  from target_user), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, ?::json as payload, ?::timestamptz as created_at, ?::text as ip_address
  where ?::boolean and exists (
    select
    from target_user)), impersonated as (
  insert into postern_impersonations (session_id, impersonated_by)
  select ? as session_id, ?::text as impersonated_by
  from target_user)
select target_user.id
from target_user
