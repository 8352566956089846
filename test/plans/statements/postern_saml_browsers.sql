insert into postern_saml_browsers (relay_state_id, browser_hash)
values (?...)
on conflict do nothing

select relay_state_id
from postern_saml_browsers
where relay_state_id = ? and browser_hash = ?
