update postern_one_time_tokens
set failed_attempts = 10
where made_by = ?

update postern_one_time_tokens
set made_by = ?
where token_id = (
  select id
  from one_time_tokens
  where user_id = ? and token_type = ?)
