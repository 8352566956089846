delete from saml_relay_states
where id = ?
returning *

delete from saml_relay_states
where id = ? and exists (
  select
  from postern_saml_browsers
  where relay_state_id = saml_relay_states.id and browser_hash = ?)
returning *

insert into saml_relay_states (id, sso_provider_id, request_id, redirect_to, flow_state_id, for_email, created_at, updated_at)
values (?...)

select *
from saml_relay_states
where id = ?
