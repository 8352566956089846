delete from postern_tenant_providers
where identifier = ?

insert into postern_tenant_providers (identifier, created_at)
values (?...)
on conflict do nothing

select identifier
from postern_tenant_providers
where identifier = ?
union all
select custom_oauth_providers.identifier
from postern_organization_connections
inner join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
where identifier = ?
