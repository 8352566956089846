insert into postern_organization_audit_entries (id, organization_id, action, actor_id, actor_name, ip_address, created_at, traits, acting)
values (?...)

insert into postern_organization_audit_entries (id, organization_id, action, ip_address, created_at, actor_id, actor_name, traits, acting)
values (?...)

select *, (extract(epoch from created_at) * 1000000)::float8 as microseconds
from postern_organization_audit_entries
where organization_id = ?
order by created_at desc, id desc
limit ?
