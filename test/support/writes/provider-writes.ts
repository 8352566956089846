/** Admin writes of external providers, with the change expected in the audit log. */
import { adminCall, asAdmin } from '../admin.ts'
import { createIdp } from '../saml/idp.ts'
import type { App } from '../server.ts'
import type { Write } from '../webhooks/webhook-writes.ts'

const custom = '/admin/custom-providers'
const sso = '/admin/sso/providers'

/** At public URLs, none of which is called. */
const input = () => ({
  provider_type: 'oauth2',
  identifier: `custom:${crypto.randomUUID().slice(0, 8)}`,
  name: 'Plain',
  client_id: 'id',
  client_secret: 'secret',
  authorization_url: 'https://8.8.8.8/authorize',
  token_url: 'https://8.8.8.8/token',
  userinfo_url: 'https://8.8.8.8/userinfo',
})

/** An empty map is no difference. */
const shownCustom = ({ client_secret: _, ...fields }: ReturnType<typeof input>) => ({
  ...fields,
  acceptable_client_ids: [],
  scopes: [],
  pkce_enabled: true,
  custom_claims_allowlist: [],
  enabled: true,
  email_optional: false,
  skip_nonce_check: false,
  shared_callback: false,
  organization_bound: false,
})

async function addCustom(app: App) {
  const body = input()
  await asAdmin(app, 'POST', custom, body)
  return body
}

async function addSso(app: App) {
  const idp = createIdp()
  const body = { type: 'saml', metadata_xml: idp.metadata }
  const { id } = (await asAdmin(app, 'POST', sso, body)).json<{ id: string }>()
  const saml = {
    entity_id: idp.entityId,
    idp_initiated: 'default',
    metadata_xml: `(${idp.metadata.length + 2 + quotesIn(idp.metadata)} bytes)`,
  }
  return { id, shown: { disabled: null, saml, domains: [] } }
}

const quotesIn = (text: string) => text.split('"').length - 1

export const providerWrites: Record<string, Write> = {
  'POST /admin/custom-providers': {
    action: 'custom_provider_created',
    write: async (app) => ({ after: shownCustom(await addCustom(app)) }),
  },
  'PUT /admin/custom-providers/{identifier}': {
    action: 'custom_provider_updated',
    async write(app) {
      const { identifier } = await addCustom(app)
      await adminCall(app, 'PUT', `${custom}/${identifier}`, { name: 'Other', client_secret: 'x' })
      return { before: { name: 'Plain' }, after: { name: 'Other' } }
    },
  },
  'DELETE /admin/custom-providers/{identifier}': {
    action: 'custom_provider_deleted',
    async write(app) {
      const body = await addCustom(app)
      await asAdmin(app, 'DELETE', `${custom}/${body.identifier}`)
      return { before: shownCustom(body) }
    },
  },
  'POST /admin/sso/providers': {
    action: 'sso_provider_created',
    write: async (app) => ({ after: (await addSso(app)).shown }),
  },
  'PUT /admin/sso/providers/{provider}': {
    action: 'sso_provider_updated',
    async write(app) {
      const { id } = await addSso(app)
      await adminCall(app, 'PUT', `${sso}/${id}`, { disabled: true })
      return { before: { disabled: null }, after: { disabled: true } }
    },
  },
  'DELETE /admin/sso/providers/{provider}': {
    action: 'sso_provider_deleted',
    async write(app) {
      const { id, shown } = await addSso(app)
      await adminCall(app, 'DELETE', `${sso}/${id}`)
      return { before: shown }
    },
  },
}
