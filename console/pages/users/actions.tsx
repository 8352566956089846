import { useState } from 'preact/hooks'

import { download, withQuery } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showError } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { CreateUserDialog, InviteUserDialog } from './create-dialog.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { readFilters } from './list-query.ts'

type Open = 'create' | 'invite' | 'import'

/** The buttons above the list. */
export function UserActions({ onDone }: { onDone: () => void }) {
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Menu label="More">
        <button
          type="button"
          disabled={!may('GET /admin/users/export')}
          onClick={() => exportList('csv').catch(showError)}
        >
          Export as CSV
        </button>
        <button
          type="button"
          disabled={!may('GET /admin/users/export')}
          onClick={() => exportList('ndjson').catch(showError)}
        >
          Export as NDJSON
        </button>
        <button
          type="button"
          disabled={!may('POST /admin/users/import')}
          onClick={() => setOpen('import')}
        >
          Import users
        </button>
      </Menu>
      <Button disabled={!may('POST /invite')} onClick={() => setOpen('invite')}>
        Invite
      </Button>
      <Button kind="primary" disabled={!may('POST /admin/users')} onClick={() => setOpen('create')}>
        Create user
      </Button>
      {open === 'create' && <CreateUserDialog onClose={close} />}
      {open === 'invite' && <InviteUserDialog onClose={close} />}
      {open === 'import' && <ImportDialog onClose={close} onDone={onDone} />}
    </>
  )
}

/** Exports all users that match the filters. */
function exportList(format: 'csv' | 'ndjson'): Promise<void> {
  const { sort, ...filters } = readFilters()
  return download(withQuery('/admin/users/export', { ...filters, format }), `users.${format}`)
}
