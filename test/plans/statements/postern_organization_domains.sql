delete from postern_organization_domains
where id = ?

insert into postern_organization_domains (id, organization_id, domain, dns_token, verified_at, verified_by, created_at, updated_at)
values (?...)
on conflict (organization_id, domain) do nothing
returning *

select *
from postern_organization_domains
where organization_id = ?
order by domain

select *
from postern_organization_domains
where organization_id = ? and id = ?

select postern_organization_domains.id
from postern_organization_domains
inner join postern_organizations on postern_organizations.id = organization_id
where organization_id in (?) and domain = ? and verified_at is not null and deleted_at is null

update postern_organization_domains
set code_attempts = code_attempts + ?
where organization_id = ? and id = ? and code_hash is not null and code_expires_at > ? and code_attempts < ?
returning *

update postern_organization_domains
set email = ?, code_hash = ?, code_attempts = ?, code_expires_at = ?, updated_at = ?
where id = ?
returning *

update postern_organization_domains
set verified_at = ?, verified_by = ?, code_hash = ?, code_expires_at = ?, updated_at = ?
where id = ?
returning *
