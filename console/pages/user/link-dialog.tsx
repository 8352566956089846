import { useState } from 'preact/hooks'

import type { User } from '../../../schemas/user.ts'
import { changeByApi } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Copy } from '../../parts/text.tsx'
import type { TabProps } from './tab-props.ts'

const types = [
  ['magiclink', 'Sign-in link'],
  ['recovery', 'Password recovery'],
  ['confirmation', 'Email confirmation'],
  ['invite', 'Invitation'],
] as const

/** Emails a link, or creates one for the admin to deliver. */
export function LinkDialog({ user, onClose }: TabProps & { onClose: () => void }) {
  const [type, setType] = useState('magiclink')
  const [link, setLink] = useState<string>()
  const send = async ({ redirect_to }: FormFields) => {
    const body = { type, ...(redirect_to && { redirect_to }) }
    await changeByApi('POST', `/admin/users/${user.id}/send_link`, body)
    showMessage(`The link was sent to ${user.email}`)
    onClose()
  }
  const make = async () => {
    const body = { type, email: user.email }
    const made = await changeByApi<User & { action_link: string }>(
      'POST',
      '/admin/generate_link',
      body,
    )
    setLink(made.action_link)
  }
  if (!user.email) {
    return (
      <Dialog title="Send a link" onClose={onClose}>
        <p>This user has no email address. Add one first.</p>
      </Dialog>
    )
  }
  return (
    <Dialog title="Send a link" onClose={onClose}>
      <Form submit={`Send to ${user.email}`} onSubmit={send} onCancel={onClose}>
        <SelectField name="type" label="Kind" value={type} options={types} onInput={setType} />
        <TextField
          name="redirect_to"
          type="url"
          label="Redirect target"
          hint="A URL allowed by AUTH_SITE_URL or AUTH_URI_ALLOW_LIST; empty for the site"
        />
        {link && (
          <div class="secret" role="status">
            <span>Anyone with this link can sign in as the user. It works once.</span>
            <Copy text={link} label="the link" />
          </div>
        )}
        {(type === 'magiclink' || type === 'recovery') && (
          <Button kind="quiet" disabled={!may('POST /admin/generate_link')} onClick={make}>
            Create a link to deliver yourself
          </Button>
        )}
      </Form>
    </Dialog>
  )
}
