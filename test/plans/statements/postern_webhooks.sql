delete from postern_webhooks
where id = ?

insert into postern_webhooks (id, source, url, description, events, secrets, state, created_at, updated_at)
values (?...)
returning *

select *
from postern_webhooks
order by created_at, id

select *
from postern_webhooks
where id = ?

select *
from postern_webhooks
where id = ?
for update

update postern_webhooks
set events = ?, state = ?, reason = ?, failures = ?, retry_at = ?, updated_at = ?
where id = ?
returning *

update postern_webhooks
set secrets = ?, failures = ?, retry_at = ?, updated_at = ?
where id = ?
returning *

update postern_webhooks
set state = ?, reason = ?, failures = ?, retry_at = ?, updated_at = ?
where id = ?
returning *

update postern_webhooks
set url = ?, failures = ?, retry_at = ?, updated_at = ?
where id = ?
returning *
