select id, user_id, auth_code, code_challenge_method, code_challenge, provider_type, provider_access_token, provider_refresh_token, created_at, updated_at, authentication_method, auth_code_issued_at, invite_token, referrer, oauth_client_state_id, linking_target_id, email_optional, postern_flows.session_id, postern_flows.secrets, postern_flows.flow_id is not null as is_ours, (
  select code_verifier
  from oauth_client_states
  where oauth_client_states.id = flow_state.oauth_client_state_id) as code_verifier
from flow_state
left join postern_flows on postern_flows.flow_id = flow_state.id
where id = ? and authentication_method = ? and (flow_state.linking_target_id is null or not exists (
    select 1 as one
    from postern_flows
    where postern_flows.flow_id = flow_state.id and postern_flows.session_id is null))
