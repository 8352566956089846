delete from flow_state
where (user_id = ? or linking_target_id = ?)

delete from flow_state
where (user_id = ? or linking_target_id = ?) and (auth_code_issued_at is not null or linking_target_id = ?)

delete from flow_state
where id = ?

delete from flow_state
where id = ? and auth_code = ? and (flow_state.linking_target_id is null or not exists (
    select 1 as one
    from postern_flows
    where postern_flows.flow_id = flow_state.id and postern_flows.session_id is null))

insert into flow_state (provider_access_token, provider_refresh_token, id, user_id, auth_code, code_challenge, code_challenge_method, provider_type, authentication_method, created_at, updated_at)
values (?...)

insert into flow_state (provider_access_token, provider_refresh_token, id, user_id, provider_type, auth_code, auth_code_issued_at, authentication_method, code_challenge, code_challenge_method, linking_target_id, created_at, updated_at)
values (?...)

select id, user_id, auth_code, code_challenge_method, code_challenge, provider_type, provider_access_token, provider_refresh_token, created_at, updated_at, authentication_method, auth_code_issued_at, invite_token, referrer, oauth_client_state_id, linking_target_id, email_optional
from flow_state
where auth_code = ? and auth_code_issued_at is not null and (flow_state.linking_target_id is null or not exists (
    select 1 as one
    from postern_flows
    where postern_flows.flow_id = flow_state.id and postern_flows.session_id is null))

update flow_state
set auth_code = ?, auth_code_issued_at = ?, updated_at = ?
where id = (
  select id
  from flow_state
  where user_id = ? and authentication_method = ?
  order by created_at desc
  limit ?)
returning auth_code

update flow_state
set user_id = ?, auth_code = ?, auth_code_issued_at = ?, updated_at = ?
where id = ? and auth_code_issued_at is null

with started as (
  insert into flow_state (provider_access_token, provider_refresh_token, id, user_id, auth_code, provider_type, authentication_method, referrer, code_challenge, code_challenge_method, linking_target_id, email_optional, created_at, updated_at)
  values (?...))
insert into postern_flows (flow_id, session_id, secrets)
values (?...)

with started as (
  insert into flow_state (provider_access_token, provider_refresh_token, id, user_id, auth_code, provider_type, authentication_method, referrer, invite_token, code_challenge, code_challenge_method, linking_target_id, email_optional, oauth_client_state_id, created_at, updated_at)
  values (?...))
insert into postern_flows (flow_id, session_id, secrets)
values (?...)

with started as (
  insert into flow_state (provider_access_token, provider_refresh_token, id, user_id, provider_type, auth_code, auth_code_issued_at, authentication_method, code_challenge, code_challenge_method, linking_target_id, created_at, updated_at)
  values (?...))
insert into postern_flows (flow_id, session_id, secrets)
values (?...)

with taken as (
  delete from flow_state
  where id = ? and authentication_method = ? and auth_code_issued_at is null and (flow_state.linking_target_id is null or not exists (
      select 1 as one
      from postern_flows
      where postern_flows.flow_id = flow_state.id and postern_flows.session_id is null))
  returning oauth_client_state_id), verifier as (
  delete from oauth_client_states
  where id in (
    select taken.oauth_client_state_id
    from taken))
select taken.oauth_client_state_id
from taken
