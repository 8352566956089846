insert into postern_scim_tokens (token_id, name)
values (?...)
