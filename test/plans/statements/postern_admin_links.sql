delete from postern_admin_links
where (email is null or email = ?)

delete from postern_admin_links
where created_by = ?

delete from postern_admin_links
where token_hash = ? and expires_at > ?
returning email, role

select email, role
from postern_admin_links
where token_hash = ? and expires_at > ?

with expired as (
  delete from postern_admin_links
  where expires_at <= ?)
insert into postern_admin_links (email, role, created_by, token_hash, created_at, expires_at)
values (?...)
