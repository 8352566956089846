delete from sessions
where id = any(array((
      select session_id
      from postern_impersonations
      where impersonated_by = ?)))

delete from sessions
where oauth_client_id = ?
returning id, user_id

delete from sessions
where oauth_client_id = ? and user_id = ?
returning id, user_id

delete from sessions
where sessions.id = ? and exists (
  select 1 as one
  from postern_deactivations
  where postern_deactivations.user_id = sessions.user_id)
returning sessions.id

delete from sessions
where user_id = ?
returning id

delete from sessions
where user_id = ? and id <> ?
returning id

delete from sessions
where user_id = ? and id <> ? and coalesce(aal, 'aal1') = 'aal1' and oauth_client_id is null
returning id

delete from sessions
where user_id = ? and id = ?

select 1 as one
from sessions
inner join postern_oauth_sessions as details on details.session_id = sessions.id
where sessions.user_id = ? and sessions.oauth_client_id = ? and details.resources @> ?::text[]
limit ?

select count(*)::float8 as counted
from (
  select id
  from sessions
  where (not_after is null or not_after > ?)
  limit ?) as some

select factor_id
from sessions
where id = ? and coalesce(aal, 'aal1') >= ?

select id
from sessions
where id = ? and user_id = ?
for key share

select sessions.id
from postern_session_proofs
inner join sessions on sessions.id = postern_session_proofs.session_id
where sessions.user_id = ? and asks_email_change = ?

select sessions.id
from sessions
inner join mfa_amr_claims on mfa_amr_claims.session_id = sessions.id
where sessions.id = ? and authentication_method in (?...) and mfa_amr_claims.updated_at at time zone 'utc' = sessions.refreshed_at

select sessions.id
from sessions
where sessions.id = ? and exists (
  select other.id
  from sessions as other
  where other.user_id = sessions.user_id and other.id <> sessions.id and not exists (
    select postern_impersonations.impersonated_by
    from postern_impersonations
    where postern_impersonations.session_id = other.id) and not exists (
    select postern_impersonations.impersonated_by
    from postern_impersonations
    where postern_impersonations.session_id = sessions.id) and other.oauth_client_id is null and
  case
  when other.tag = any(?::text[]) then other.tag
  else (?::text[])[1] end is not distinct from
  case
  when sessions.tag = any(?::text[]) then sessions.tag
  else (?::text[])[1] end and coalesce(other.not_after > ?, true) and coalesce(other.created_at > ?::timestamptz, true) and coalesce(other.refreshed_at at time zone 'utc', other.created_at) > coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at))

select sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.user_agent, sessions.ip, sessions.oauth_client_id, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = sessions.id) as impersonated_by, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_factors.status
    from mfa_factors
    where mfa_factors.user_id = sessions.user_id) as agg) as factors
from sessions
where user_id = ?
order by coalesce(refreshed_at at time zone 'utc', created_at) desc, id
limit ?

select sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.user_agent, sessions.ip, sessions.oauth_client_id, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = sessions.id) as impersonated_by, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_factors.status
    from mfa_factors
    where mfa_factors.user_id = sessions.user_id) as agg) as factors
from sessions
where user_id = ? and (exists (
    select postern_impersonations.impersonated_by
    from postern_impersonations
    where postern_impersonations.session_id = sessions.id) or sessions.oauth_client_id is not null or not exists (
    select other.id
    from sessions as other
    where other.user_id = sessions.user_id and other.id <> sessions.id and not exists (
      select postern_impersonations.impersonated_by
      from postern_impersonations
      where postern_impersonations.session_id = other.id) and not exists (
      select postern_impersonations.impersonated_by
      from postern_impersonations
      where postern_impersonations.session_id = sessions.id) and other.oauth_client_id is null and
    case
    when other.tag = any(?::text[]) then other.tag
    else (?::text[])[1] end is not distinct from
    case
    when sessions.tag = any(?::text[]) then sessions.tag
    else (?::text[])[1] end and coalesce(other.not_after > ?, true) and coalesce(other.created_at > ?::timestamptz, true) and coalesce(other.refreshed_at at time zone 'utc', other.created_at) > coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at)))
order by coalesce(refreshed_at at time zone 'utc', created_at) desc, id
limit ?

select sessions.scopes, users.aud, details.resources, details.userinfo_claims, users.id, users.is_sso_user, users.is_anonymous, users.email, users.email_confirmed_at, users.phone, users.phone_confirmed_at
from sessions
inner join users on users.id = sessions.user_id
left join postern_oauth_sessions as details on details.session_id = sessions.id
where sessions.id = ?

update sessions
set refresh_token_counter = refresh_token_counter - 1
where id = ? and refresh_token_counter = ? and refresh_token_counter > 0

update sessions
set refresh_token_hmac_key = ?
where id = ? and refresh_token_hmac_key = ?

with advanced as (
  update sessions
  set refresh_token_counter = sessions.refresh_token_counter + 1, refreshed_at = ?::timestamptz at time zone 'utc', updated_at = ?, user_agent = ?, ip = ?
  where sessions.id = ? and sessions.refresh_token_counter = ? and (sessions.oauth_client_id is not distinct from ?::uuid and coalesce(sessions.not_after > ?, true) and coalesce(sessions.created_at > ?::timestamptz, true) and coalesce(coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at) > ?::timestamptz, true) and coalesce((
        select users.deleted_at is null and coalesce(users.banned_until <= ?, true) as is_live
        from users
        where users.id = sessions.user_id), false))
  returning sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, sessions.user_id as session_user_id), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, json_strip_nulls(json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user, 'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token', 'actor', json_build_object('type', 'user', 'id', users.id), 'act', (
        select json_build_object('sub', found.by)
        from ((
            select postern_impersonations.impersonated_by
            from postern_impersonations
            where postern_impersonations.session_id = advanced.session_id)) found (by)))) as payload, ?::timestamptz as created_at, coalesce(?::text, '') as ip_address
  from users
  inner join advanced on advanced.session_user_id = users.id
  where ?::boolean)
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
    order by mfa_factors.created_at) as agg) as factors, advanced.session_id, advanced.session_created_at, advanced.refreshed_at, advanced.not_after, advanced.aal, advanced.tag, advanced.oauth_client_id, advanced.scopes, advanced.refresh_token_hmac_key, advanced.refresh_token_counter, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
    from mfa_amr_claims
    where mfa_amr_claims.session_id = advanced.session_id
    order by mfa_amr_claims.updated_at desc) as agg) as amr, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = advanced.session_id) as impersonated_by
from users
inner join advanced on advanced.session_user_id = users.id

with advanced as (
  update sessions
  set refresh_token_counter = sessions.refresh_token_counter + 1, refreshed_at = ?::timestamptz at time zone 'utc', updated_at = ?, user_agent = ?, ip = ?
  where sessions.id = ? and sessions.refresh_token_counter = ? and (sessions.oauth_client_id is not distinct from ?::uuid and coalesce(sessions.not_after > ?, true) and coalesce(sessions.created_at > ?::timestamptz, true) and coalesce(coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at) > ?::timestamptz, true) and coalesce((
        select users.deleted_at is null and coalesce(users.banned_until <= ?, true) as is_live
        from users
        where users.id = sessions.user_id), false)) and (?::uuid is null or coalesce((
        select true as found
        from postern_organization_members
        inner join postern_organizations on postern_organizations.id = organization_id
        where postern_organization_members.user_id = sessions.user_id and postern_organization_members.organization_id = ?::uuid and postern_organization_members.status = 'active' and postern_organizations.deleted_at is null), false))
  returning sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, sessions.user_id as session_user_id), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, json_strip_nulls(json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user, 'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token', 'actor', json_build_object('type', 'user', 'id', users.id), 'act', (
        select json_build_object('sub', found.by)
        from ((
            select postern_impersonations.impersonated_by
            from postern_impersonations
            where postern_impersonations.session_id = advanced.session_id)) found (by)))) as payload, ?::timestamptz as created_at, coalesce(?::text, '') as ip_address
  from users
  inner join advanced on advanced.session_user_id = users.id
  where ?::boolean)
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
    order by mfa_factors.created_at) as agg) as factors, advanced.session_id, advanced.session_created_at, advanced.refreshed_at, advanced.not_after, advanced.aal, advanced.tag, advanced.oauth_client_id, advanced.scopes, advanced.refresh_token_hmac_key, advanced.refresh_token_counter, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
    from mfa_amr_claims
    where mfa_amr_claims.session_id = advanced.session_id
    order by mfa_amr_claims.updated_at desc) as agg) as amr, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = advanced.session_id) as impersonated_by, (
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
      where postern_session_organizations.session_id = advanced.session_id)) and postern_organization_members.status = 'active' and postern_organizations.deleted_at is null) as organization
from users
inner join advanced on advanced.session_user_id = users.id

with advanced as (
  update sessions
  set refresh_token_counter = sessions.refresh_token_counter + 1, refreshed_at = ?::timestamptz at time zone 'utc', updated_at = ?, user_agent = ?, ip = ?
  where sessions.id = ? and sessions.refresh_token_counter = ? and (sessions.oauth_client_id is not distinct from ?::uuid and coalesce(sessions.not_after > ?, true) and coalesce(sessions.created_at > ?::timestamptz, true) and coalesce(coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at) > ?::timestamptz, true) and coalesce((
        select users.deleted_at is null and coalesce(users.banned_until <= ?, true) as is_live
        from users
        where users.id = sessions.user_id), false)) and (coalesce(sessions.created_at > ?::timestamptz, true) or coalesce(sessions.aal, 'aal1') > 'aal1' or not exists (
      select mfa_factors.id
      from mfa_factors
      where mfa_factors.user_id = sessions.user_id and mfa_factors.status = ?))
  returning sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, sessions.user_id as session_user_id), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, json_strip_nulls(json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user, 'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token', 'actor', json_build_object('type', 'user', 'id', users.id), 'act', (
        select json_build_object('sub', found.by)
        from ((
            select postern_impersonations.impersonated_by
            from postern_impersonations
            where postern_impersonations.session_id = advanced.session_id)) found (by)))) as payload, ?::timestamptz as created_at, coalesce(?::text, '') as ip_address
  from users
  inner join advanced on advanced.session_user_id = users.id
  where ?::boolean)
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
    order by mfa_factors.created_at) as agg) as factors, advanced.session_id, advanced.session_created_at, advanced.refreshed_at, advanced.not_after, advanced.aal, advanced.tag, advanced.oauth_client_id, advanced.scopes, advanced.refresh_token_hmac_key, advanced.refresh_token_counter, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
    from mfa_amr_claims
    where mfa_amr_claims.session_id = advanced.session_id
    order by mfa_amr_claims.updated_at desc) as agg) as amr, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = advanced.session_id) as impersonated_by
from users
inner join advanced on advanced.session_user_id = users.id

with advanced as (
  update sessions
  set refresh_token_counter = sessions.refresh_token_counter + 1, refreshed_at = ?::timestamptz at time zone 'utc', updated_at = ?, user_agent = ?, ip = ?
  where sessions.id = ? and sessions.refresh_token_counter = ? and (sessions.oauth_client_id is not distinct from ?::uuid and coalesce(sessions.not_after > ?, true) and coalesce(sessions.created_at > ?::timestamptz, true) and coalesce(coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at) > ?::timestamptz, true) and coalesce((
        select users.deleted_at is null and coalesce(users.banned_until <= ?, true) as is_live
        from users
        where users.id = sessions.user_id), false)) and not exists (
    select other.id
    from sessions as other
    where other.user_id = sessions.user_id and other.id <> sessions.id and not exists (
      select postern_impersonations.impersonated_by
      from postern_impersonations
      where postern_impersonations.session_id = other.id) and not exists (
      select postern_impersonations.impersonated_by
      from postern_impersonations
      where postern_impersonations.session_id = sessions.id) and other.oauth_client_id is null and
    case
    when other.tag = any(?::text[]) then other.tag
    else (?::text[])[1] end is not distinct from
    case
    when sessions.tag = any(?::text[]) then sessions.tag
    else (?::text[])[1] end and coalesce(other.not_after > ?, true) and coalesce(other.created_at > ?::timestamptz, true) and coalesce(other.refreshed_at at time zone 'utc', other.created_at) > coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at))
  returning sessions.id as session_id, sessions.created_at as session_created_at, sessions.refreshed_at, sessions.not_after, sessions.aal, sessions.tag, sessions.oauth_client_id, sessions.scopes, sessions.refresh_token_hmac_key, sessions.refresh_token_counter, sessions.user_id as session_user_id), audited as (
  insert into audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '00000000-0000-0000-0000-000000000000'::uuid as instance_id, gen_random_uuid() as id, json_strip_nulls(json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user, 'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token', 'actor', json_build_object('type', 'user', 'id', users.id), 'act', (
        select json_build_object('sub', found.by)
        from ((
            select postern_impersonations.impersonated_by
            from postern_impersonations
            where postern_impersonations.session_id = advanced.session_id)) found (by)))) as payload, ?::timestamptz as created_at, coalesce(?::text, '') as ip_address
  from users
  inner join advanced on advanced.session_user_id = users.id
  where ?::boolean)
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
    order by mfa_factors.created_at) as agg) as factors, advanced.session_id, advanced.session_created_at, advanced.refreshed_at, advanced.not_after, advanced.aal, advanced.tag, advanced.oauth_client_id, advanced.scopes, advanced.refresh_token_hmac_key, advanced.refresh_token_counter, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mfa_amr_claims.authentication_method as method, floor(extract(epoch from mfa_amr_claims.updated_at))::bigint as timestamp
    from mfa_amr_claims
    where mfa_amr_claims.session_id = advanced.session_id
    order by mfa_amr_claims.updated_at desc) as agg) as amr, (
  select postern_impersonations.impersonated_by
  from postern_impersonations
  where postern_impersonations.session_id = advanced.session_id) as impersonated_by
from users
inner join advanced on advanced.session_user_id = users.id

with locked as (
  select sessions.id
  from sessions
  where sessions.id = ? and coalesce((
      select users.deleted_at is null and coalesce(users.banned_until <= ?, true) as is_live
      from users
      where users.id = sessions.user_id), false)
  for no key update), consumed as (
  update refresh_tokens
  set revoked = ?, updated_at = ?
  where id = ? and session_id = (
    select locked.id
    from locked) and revoked is not true
  returning session_id as consumed_session_id)
update sessions
set refresh_token_hmac_key = coalesce(sessions.refresh_token_hmac_key, ?), refresh_token_counter = coalesce(sessions.refresh_token_counter, 0), refreshed_at = ?, updated_at = ?, user_agent = ?, ip = ?
from consumed
where sessions.id = consumed.consumed_session_id
returning sessions.refresh_token_hmac_key as refresh_token_hmac_key, sessions.refresh_token_counter as refresh_token_counter

with locked as (
  select sessions.id
  from sessions
  where sessions.id = ? and coalesce((
      select users.deleted_at is null and coalesce(users.banned_until <= ?, true) as is_live
      from users
      where users.id = sessions.user_id), false)
  for no key update), consumed as (
  update refresh_tokens
  set revoked = ?, updated_at = ?
  where id = ? and session_id = (
    select locked.id
    from locked) and revoked is not true
  returning session_id, user_id, token), grown as (
  insert into refresh_tokens (instance_id, token, user_id, session_id, parent, revoked, created_at, updated_at)
  select ?::uuid as instance_id, ? as token, user_id, session_id, token as parent, false as revoked, ?::timestamptz as created_at, ?::timestamptz as updated_at
  from consumed
  returning session_id as grown_session_id)
update sessions
set refreshed_at = ?, updated_at = ?, user_agent = ?, ip = ?
from grown
where sessions.id = grown.grown_session_id
returning sessions.id

with lowered as (
  update sessions
  set aal = ?, factor_id = ?, updated_at = ?
  where user_id = ? and factor_id = ?
  returning id)
delete from mfa_amr_claims
where session_id in (
  select lowered.id
  from lowered) and authentication_method in (?...)

with raised as (
  update sessions
  set aal = ?, factor_id = coalesce(?::uuid, factor_id), refresh_token_hmac_key = coalesce(refresh_token_hmac_key, ?), refresh_token_counter = coalesce(refresh_token_counter, 0) + ?, refreshed_at = ?::timestamptz at time zone 'utc', updated_at = ?
  where id = ? and user_id = ?
  returning id), consumed as (
  update refresh_tokens
  set revoked = ?, updated_at = ?
  where session_id in (
    select raised.id
    from raised) and revoked is not true)
insert into mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
select gen_random_uuid() as id, raised.id as session_id, ? as authentication_method, ?::timestamptz as created_at, ?::timestamptz as updated_at
from raised
on conflict on constraint mfa_amr_claims_session_id_authentication_method_pkey do update
set updated_at = ?
returning session_id

with used as (
  update sessions
  set refreshed_at = ?::timestamptz at time zone 'utc', updated_at = ?
  where id = ?
  returning id as used_id)
update postern_page_sessions
set last_used_at = ?, expires_at = ?
from used
where id = ? and session_id = used.used_id
