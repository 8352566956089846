import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { changeByApi } from '../../core/api.ts'
import { fromLines, toLines } from '../../core/format.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { AreaField, CheckField, SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'

interface ClientDialogProps {
  /** The client to change; absent for a new one. */
  client?: OauthClient
  onDone: (client: OauthClient) => void
  onClose: () => void
}

const types = [
  ['confidential', 'Confidential: keeps a secret'],
  ['public', 'Public: an app or a web page'],
] as const

export function ClientDialog({ client, onDone, onClose }: ClientDialogProps) {
  const save = async (fields: FormFields) => {
    const saved = await saveClient(client, fields)
    showMessage(client ? 'The client was changed' : 'The client was created')
    onDone(saved)
    onClose()
  }
  return (
    <Dialog title={client ? 'Edit client' : 'Create a client'} onClose={onClose}>
      <Form submit={client ? 'Save' : 'Create client'} onSubmit={save} onCancel={onClose}>
        <TextField
          name="client_name"
          label="Name"
          hint="Shown to users on the consent page"
          value={client?.client_name ?? ''}
          required
          autoFocus
        />
        {!client && <SelectField name="client_type" label="Type" options={types} />}
        <AreaField
          name="redirect_uris"
          label="Redirect URIs"
          hint="One per line; compared exactly"
          value={toLines(client?.redirect_uris)}
          rows={3}
          code
          required
        />
        <TextField
          name="scope"
          label="Scopes"
          hint="Separated by spaces; empty for all"
          value={client?.scope ?? ''}
        />
        <TextField name="client_uri" type="url" label="Website" value={client?.client_uri ?? ''} />
        <CheckField
          name="require_pushed"
          label="Requires pushed authorization requests"
          checked={client?.require_pushed_authorization_requests ?? false}
        />
      </Form>
    </Dialog>
  )
}

function saveClient(client: OauthClient | undefined, fields: FormFields): Promise<OauthClient> {
  const path = '/admin/oauth/clients'
  const body = read(fields)
  return client
    ? changeByApi('PUT', `${path}/${encodeURIComponent(client.client_id)}`, body)
    : changeByApi('POST', path, { ...body, client_type: fields.client_type })
}

function read({ client_name, redirect_uris, scope, client_uri, require_pushed }: FormFields) {
  return {
    client_name,
    redirect_uris: fromLines(redirect_uris),
    ...(scope && { scope }),
    ...(client_uri && { client_uri }),
    require_pushed_authorization_requests: require_pushed === 'on',
  }
}
