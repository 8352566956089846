delete from postern_saml_logins
where user_id = ?

insert into postern_saml_logins (id, sso_provider_id, user_id, flow_id, session_id, name_id, name_id_format, name_qualifier, sp_name_qualifier, session_index, session_end)
values (?...)

select id, sso_provider_id, user_id, flow_id, session_id, name_id, name_id_format, name_qualifier, sp_name_qualifier, session_index, session_end
from postern_saml_logins
where flow_id = ?

select id, sso_provider_id, user_id, flow_id, session_id, name_id, name_id_format, name_qualifier, sp_name_qualifier, session_index, session_end
from postern_saml_logins
where session_id = ?

select id, sso_provider_id, user_id, flow_id, session_id, name_id, name_id_format, name_qualifier, sp_name_qualifier, session_index, session_end
from postern_saml_logins
where sso_provider_id = ? and name_id = ?
order by user_id

select id, sso_provider_id, user_id, flow_id, session_id, name_id, name_id_format, name_qualifier, sp_name_qualifier, session_index, session_end
from postern_saml_logins
where sso_provider_id = ? and name_id = ? and (session_index is null or session_index in (?))
order by user_id

select id, sso_provider_id, user_id, flow_id, session_id, name_id, name_id_format, name_qualifier, sp_name_qualifier, session_index, session_end
from postern_saml_logins
where user_id = ? and sso_provider_id = ?
