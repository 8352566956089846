import type { Admin } from '../../../schemas/console/admin.ts'
import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showError, showMessage } from '../../core/toasts.ts'

export const roles = [
  ['support', 'Support'],
  ['operator', 'Operator'],
  ['owner', 'Owner'],
] as const

/** Changes the role immediately; the message can undo it. */
export function RoleChoice({ admin, onChange }: { admin: Admin; onChange: () => void }) {
  const set = async (role: string) => {
    await changeByApi('PUT', `/admin/admins/${admin.user_id}`, { role }).finally(onChange)
  }
  const choose = async (role: string) => {
    await set(role)
    showMessage('The role was changed', () => set(admin.role))
  }
  return (
    <select
      aria-label={`Role of ${admin.email ?? admin.user_id}`}
      value={admin.role}
      disabled={!may('PUT /admin/admins/{user_id}')}
      onChange={(event) => choose(event.currentTarget.value).catch(showError)}
    >
      {roles.map(([value, text]) => (
        <option key={value} value={value} selected={value === admin.role}>
          {text}
        </option>
      ))}
    </select>
  )
}
