delete from postern_session_organizations
where session_id = ?

insert into postern_session_organizations (session_id, organization_id, user_id)
values (?...)
on conflict (session_id) do update
set session_id = ?, organization_id = ?, user_id = ?
