import { useState } from 'preact/hooks'

import type { CustomProvider } from '../../../schemas/custom-provider.ts'
import { changeByApi } from '../../core/api.ts'
import { fromLines } from '../../core/format.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Copy } from '../../parts/text.tsx'

interface CustomProviderDialogProps {
  /** The provider to change; absent for a new one. */
  provider?: CustomProvider
  onDone: () => void
  onClose: () => void
}

type ProviderType = CustomProvider['provider_type']

const types = [
  ['oidc', 'OpenID Connect'],
  ['oauth2', 'OAuth 2.0'],
] as const

const endpoints = ['authorization_url', 'token_url', 'userinfo_url'] as const
const labels = {
  authorization_url: 'Authorization URL',
  token_url: 'Token URL',
  userinfo_url: 'User info URL',
}

export function CustomProviderDialog({ provider, onDone, onClose }: CustomProviderDialogProps) {
  const [type, setType] = useState<ProviderType>(provider?.provider_type ?? 'oidc')
  const save = async (fields: FormFields) => {
    await saveProvider(provider, fields, type)
    showMessage(
      provider
        ? `${fields.name} was changed`
        : `${fields.name} was added: register its callback URL at the provider`,
    )
    onDone()
    onClose()
  }
  return (
    <Dialog title={provider ? `Edit ${provider.name}` : 'Add a provider'} onClose={onClose}>
      <Form submit={provider ? 'Save' : 'Add provider'} onSubmit={save} onCancel={onClose}>
        <TextField name="name" label="Name" value={provider?.name ?? ''} required autoFocus />
        {!provider && (
          <>
            <TextField
              name="identifier"
              label="Identifier"
              hint="Clients send custom: and this name as the provider. It cannot be changed later."
              pattern="[a-z0-9:\-]+"
              required
            />
            <SelectField
              name="type"
              label="Protocol"
              value={type}
              options={types}
              onInput={(value) => setType(value === 'oauth2' ? 'oauth2' : 'oidc')}
            />
          </>
        )}
        <TypeFields type={type} {...(provider && { provider })} />
        <TextField name="client_id" label="Client id" value={provider?.client_id ?? ''} required />
        <TextField
          name="client_secret"
          type="password"
          label="Client secret"
          hint={provider ? 'Leave empty to keep it' : 'Stored encrypted, and never shown'}
          required={!provider}
        />
        <TextField
          name="scopes"
          label="Scopes"
          hint="Separated by spaces"
          value={provider?.scopes.join(' ') ?? ''}
        />
        {provider?.shared_callback && <OwnCallback provider={provider} />}
        {provider?.organization_bound && <OfServer />}
      </Form>
    </Dialog>
  )
}

/** Of an older provider: it shares its callback URL with others until this is chosen. */
function OwnCallback({
  provider: { callback_url, identifier, name },
}: {
  provider: CustomProvider
}) {
  const own = callback_url.replace(/\/callback$/, `/providers/${identifier}/callback`)
  return (
    <CheckField
      name="own_callback"
      label="Use a callback URL of its own"
      hint={
        <>
          With the shared one, the operator of this provider could sign in as users of other ones.
          First register this URL at the provider, beside the old one:{' '}
          <Copy text={own} label={`the new callback URL of ${name}`} />
        </>
      }
    />
  )
}

/** Of a provider that an organization has or had. */
function OfServer() {
  return (
    <CheckField
      name="of_server"
      label="Make it a provider of the server"
      hint="An organization has or had this provider. Its operator could then sign in as every user of the server. Delete the connection of the organization first."
    />
  )
}

function TypeFields({ type, provider }: { type: ProviderType; provider?: CustomProvider }) {
  if (type === 'oidc') {
    return (
      <TextField
        name="issuer"
        type="url"
        label="Issuer"
        hint="The discovery document is fetched when you save"
        value={provider?.issuer ?? ''}
        required
      />
    )
  }
  return (
    <>
      {endpoints.map((name) => (
        <TextField
          key={name}
          name={name}
          type="url"
          label={labels[name]}
          value={provider?.[name] ?? ''}
          required
        />
      ))}
    </>
  )
}

async function saveProvider(
  provider: CustomProvider | undefined,
  fields: FormFields,
  type: ProviderType,
): Promise<void> {
  const path = '/admin/custom-providers'
  const body = changesIn(fields, type)
  if (provider) {
    await changeByApi('PUT', `${path}/${encodeURIComponent(provider.identifier)}`, body)
  } else {
    const identifier = `custom:${fields.identifier}`
    await changeByApi('POST', path, { ...body, identifier, provider_type: type })
  }
}

function changesIn(fields: FormFields, type: ProviderType) {
  const { name, client_id, client_secret, scopes, issuer, own_callback, of_server } = fields
  const places =
    type === 'oidc' ? { issuer } : Object.fromEntries(endpoints.map((each) => [each, fields[each]]))
  return {
    name,
    client_id,
    ...(client_secret && { client_secret }),
    scopes: fromLines(scopes),
    ...(own_callback && { shared_callback: false }),
    ...(of_server && { organization_bound: false }),
    ...places,
  }
}
