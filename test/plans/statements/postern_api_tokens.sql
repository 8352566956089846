select *
from postern_api_tokens
where (expires_at > ? or expires_at is null)
order by created_at
