delete from postern_saml_logouts
where id = ?
returning *

insert into postern_saml_logouts (id, sso_provider_id, request_id, redirect_to, message, created_at)
values (?...)

select *
from postern_saml_logouts
where id = ?
