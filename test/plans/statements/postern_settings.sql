delete from postern_settings
where name = ?

insert into postern_settings (name, value, updated_at, updated_by)
values (?...)
on conflict (name) do update
set value = ?, updated_at = ?, updated_by = ?

select *
from postern_settings
order by name
