delete from sso_domains
where sso_provider_id = ?

insert into sso_domains (id, sso_provider_id, domain, created_at, updated_at)
values (?...)

select id
from sso_domains
where sso_provider_id = ? and domain = ?
