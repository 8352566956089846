delete from identities
where id = ?

delete from identities
where user_id = ? and id != ?

delete from identities
where user_id = ? and provider = ?

delete from identities
where user_id = ? and provider = ? and provider_id = ?

delete from identities
where user_id = ? and provider not in (?)

delete from identities
where user_id = ? and provider not in (?...)

insert into identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
select gen_random_uuid() as id, ? as user_id, ? as provider, ? as provider_id, ? as identity_data, ? as last_sign_in_at, ? as created_at, ? as updated_at
from (
  select) as once
where true
on conflict (provider_id, provider) do update
set identity_data = (
  case jsonb_typeof(identities.identity_data)
  when 'object' then identities.identity_data
  else '{}'::jsonb end) || ?::jsonb, updated_at = ?

insert into identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
select gen_random_uuid() as id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at
from jsonb_to_recordset(?::jsonb) as given (user_id uuid, provider text, provider_id text, identity_data jsonb, last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz)

insert into identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
values (gen_random_uuid(), ?...)
returning identities.id, identities.provider_id, identities.user_id, identities.identity_data, identities.provider, identities.last_sign_in_at, identities.created_at, identities.updated_at, identities.email

select identities.id, identities.provider_id, identities.user_id, identities.identity_data, identities.provider, identities.last_sign_in_at, identities.created_at, identities.updated_at, identities.email
from identities
where provider_id = ? and provider = ?

select identities.user_id, identities.provider as provider, identities.email, true as is_proven
from identities
inner join users on users.id = identities.user_id
where identities.email in (?) and identities.provider not in ('email', 'phone') and identities.identity_data ->> 'email_verified' = 'true' and users.aud = ? and users.deleted_at is null

select identities.user_id, identities.provider as provider, identities.email, true as is_proven
from identities
inner join users on users.id = identities.user_id
where identities.email in (?) and identities.provider not in ('email', 'phone') and identities.identity_data ->> 'email_verified' = 'true' and users.aud = ? and users.deleted_at is null
union all
select users.id as user_id, null as provider, users.email, (users.email_confirmed_at is not null and not exists (
    select 1 as one
    from postern_autoconfirmed_addresses as assumed
    where assumed.user_id = users.id and assumed.address = users.email and assumed.cause = 'autoconfirm')) as is_proven
from users
where users.email in (?) and users.aud = ? and users.is_sso_user = ?

select identities.user_id, identities.provider as provider, identities.email, true as is_proven
from identities
inner join users on users.id = identities.user_id
where identities.email in (?...) and identities.provider not in ('email', 'phone') and identities.identity_data ->> 'email_verified' = 'true' and users.aud = ? and users.deleted_at is null
union all
select users.id as user_id, null as provider, users.email, (users.email_confirmed_at is not null and not exists (
    select 1 as one
    from postern_autoconfirmed_addresses as assumed
    where assumed.user_id = users.id and assumed.address = users.email and assumed.cause = 'autoconfirm')) as is_proven
from users
where users.email in (?...) and users.aud = ? and users.is_sso_user = ?

select provider_id
from identities
where provider = 'web3' and lower(provider_id) = lower(?)
order by provider_id = ? desc, created_at
limit ?

update identities
set identity_data = (
  case jsonb_typeof(identity_data)
  when 'object' then identity_data
  else '{}'::jsonb end) || '{email_verified: true}'::jsonb, updated_at = ?
where user_id = ? and email = ?

update identities
set identity_data = ?, updated_at = ?
where id = ?

update identities
set provider_id = ?, identity_data = (
  case jsonb_typeof(identity_data)
  when 'object' then identity_data
  else '{}'::jsonb end) || ?::jsonb, updated_at = ?
where user_id = ? and provider = ? and provider_id = ? and not exists (
  select 1 as one
  from identities as taken
  where taken.user_id = ? and taken.provider = ? and taken.provider_id = ? and taken.id <> identities.id)

update identities
set provider_id = translate(encode(sha256(convert_to(user_id::text || provider || ':' || provider_id, 'UTF8')), 'base64'), '+/=', '-_'), identity_data = ?, updated_at = ?
where user_id = ?

with listed as (
  select provider, min(created_at) as first
  from identities
  where user_id = ?
  group by provider)
update users
set updated_at = ?, raw_app_meta_data = (
  case jsonb_typeof(raw_app_meta_data)
  when 'object' then raw_app_meta_data
  else '{}'::jsonb end) || (
  select jsonb_build_object('provider', (array_agg(provider
        order by first))[1], 'providers', jsonb_agg(provider
      order by first)) as meta
  from listed)
where id = ? and exists (
  select provider
  from listed)
