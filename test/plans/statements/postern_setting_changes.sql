insert into postern_setting_changes (name, before, after, changed_at, changed_by, reverts)
values (?...)

select *
from postern_setting_changes
order by id desc
limit ?

select *
from postern_setting_changes
where id = ?
