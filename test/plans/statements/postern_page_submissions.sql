insert into postern_page_submissions (slot, id, answer, expires_at)
values (?...)
on conflict (slot) do update
set slot = ?, id = ?, answer = ?, expires_at = ?
where (postern_page_submissions.id != ? or postern_page_submissions.expires_at <= ?)

select answer
from postern_page_submissions
where slot = ? and id = ? and expires_at > ?

update postern_page_submissions
set answer = ?, expires_at = ?
where slot = ? and id = ?
