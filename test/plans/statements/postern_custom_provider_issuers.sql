insert into postern_custom_provider_issuers (identifier, issuer)
values (?...)
on conflict (identifier) do update
set issuer = ?
where (postern_custom_provider_issuers.issuer = ? or (
    select identities.user_id
    from identities
    where identities.provider = ?
    order by identities.user_id
    limit 1) is null)
returning identifier

select identifier
from postern_custom_provider_issuers
where identifier = ?
for update

select issuer
from postern_custom_provider_issuers
where identifier = ?
for share
