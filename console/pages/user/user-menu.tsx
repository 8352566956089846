import { useState } from 'preact/hooks'

import type { AdminUser } from '../../../schemas/admin-user.ts'
import { changeByApi } from '../../core/api.ts'
import { has, may } from '../../core/me.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { getStatus } from '../users/status.tsx'
import { BanDialog } from './ban-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { ImpersonateDialog } from './impersonate-dialog.tsx'
import { LinkDialog } from './link-dialog.tsx'
import type { TabProps } from './tab-props.ts'

type Open = 'link' | 'ban' | 'impersonate' | 'delete'

/** Actions on the account. */
export function UserMenu(props: TabProps) {
  const { user, of } = props
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const { text: status } = getStatus(user)
  const isBlocked = status === 'Banned' || status === 'Deactivated'
  const mayChange = may('PUT /admin/users/{user_id}')
  const unban = async () => {
    of.set(await changeByApi<AdminUser>('PUT', `/admin/users/${user.id}`, { ban_duration: 'none' }))
    showMessage(status === 'Banned' ? 'The ban was lifted' : 'The user is active again')
  }
  return (
    <>
      <Button
        disabled={!may('POST /admin/users/{user_id}/send_link')}
        onClick={() => setOpen('link')}
      >
        Send link
      </Button>
      <Menu label="Actions">
        <button
          type="button"
          disabled={!mayChange}
          onClick={() => (isBlocked ? unban().catch(showError) : setOpen('ban'))}
        >
          {isBlocked ? (status === 'Banned' ? 'Lift the ban' : 'Activate') : 'Ban'}
        </button>
        <button
          type="button"
          disabled={!has('impersonation') || !may('POST /admin/users/{user_id}/impersonate')}
          title={has('impersonation') ? '' : 'Off: AUTH_ADMIN_IMPERSONATION_ENABLED'}
          onClick={() => setOpen('impersonate')}
        >
          Impersonate
        </button>
        <button
          type="button"
          class="danger"
          disabled={!may('DELETE /admin/users/{user_id}')}
          onClick={() => setOpen('delete')}
        >
          Delete
        </button>
      </Menu>
      {open === 'link' && <LinkDialog {...props} onClose={close} />}
      {open === 'ban' && <BanDialog {...props} onClose={close} />}
      {open === 'impersonate' && <ImpersonateDialog {...props} onClose={close} />}
      {open === 'delete' && <DeleteDialog {...props} onClose={close} />}
    </>
  )
}
