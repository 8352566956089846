delete from postern_organization_roles
where id = ?

insert into postern_organization_roles (id, organization_id, name, description, permissions, created_at, updated_at)
values (?...)
on conflict do nothing
returning *

select *
from postern_organization_roles
where (organization_id is null or organization_id = ?)
order by name

select *
from postern_organization_roles
where (organization_id is null or organization_id = ?) and name = ?

select *
from postern_organization_roles
where name = ? and organization_id = ?

select *
from postern_organization_roles
where name = ? and organization_id is null

select *
from postern_organization_roles
where organization_id is null
order by name

update postern_organization_roles
set permissions = ?, updated_at = ?
where id = ?
returning *
