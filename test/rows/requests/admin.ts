/** Requests of an admin. */
import { createIdp } from '../../support/saml/idp.ts'
import { newAddress } from '../../support/users.ts'
import type { World } from '../world/index.ts'
import type { Requests } from './send.ts'

const custom = {
  provider_type: 'oauth2',
  identifier: 'custom:b',
  name: 'B',
  client_id: 'i',
  client_secret: 's',
  authorization_url: 'https://8.8.8.8/a',
  token_url: 'https://8.8.8.8/t',
  userinfo_url: 'https://8.8.8.8/u',
}

export function createAdminRequests(world: World): Requests {
  return { ...ofUsers(world), ...ofSettings(world), ...ofProviders(world) }
}

function ofUsers({ ann, bob, id, links }: World): Requests {
  const invited = links.find(({ type }) => type === 'invite')?.id
  const bobUrl = `/admin/users/${bob.user.id}`
  const { email } = ann
  const link = (type: string) => ({ payload: { type, email, new_email: newAddress() } })
  return {
    'POST /invite': { payload: { email: newAddress() } },
    'GET /admin/users': [
      {},
      { query: { q: 'ann' } },
      { query: { limit: '10', sort: 'created_at desc' } },
      { query: { filter: email } },
    ],
    'POST /admin/users': { payload: { email: newAddress(), password: 'a very secret phrase' } },
    'POST /admin/users/:user_id': {
      url: `/admin/users/${crypto.randomUUID()}`,
      payload: { email: newAddress() },
    },
    'PUT /admin/users/:user_id': [
      { payload: { user_metadata: { x: 1 }, app_metadata: { y: 1 } } },
      { payload: { email: newAddress(), password: 'another correct horse' } },
    ],
    'DELETE /admin/users/:user_id': [
      { url: bobUrl },
      { url: bobUrl, payload: { should_soft_delete: true } },
      {},
    ],
    'POST /admin/users/:user_id/resend_invitation': {
      url: `/admin/users/${invited}/resend_invitation`,
    },
    'POST /admin/users/:user_id/impersonate': { url: `${bobUrl}/impersonate` },
    'PUT /admin/users/:user_id/factors/:factor_id': { payload: { friendly_name: 'z' } },
    'PUT /admin/users/:user_id/username': { payload: { username: 'ann-admin' } },
    'POST /admin/generate_link': ['magiclink', 'recovery', 'email_change_new'].map(link),
    'POST /admin/admins': [
      { payload: { user_id: bob.user.id, role: 'support' } },
      { payload: { email: newAddress(), role: 'support' } },
    ],
    'PUT /admin/admins/:user_id': { payload: { role: 'owner' } },
    'POST /admin/users/bulk': { payload: { action: 'ban', ids: [id], ban_duration: '1h' } },
    'POST /admin/users/import': {
      form: { x: '1' },
      headers: { 'content-type': 'application/x-ndjson' },
    },
    'POST /admin/users/:user_id/send_link': [
      { payload: { type: 'recovery' } },
      { payload: { type: 'magiclink' } },
    ],
  }
}

function ofSettings({ ids }: World): Requests {
  const kind = 'recovery'
  return {
    'POST /admin/keys': { payload: { action: 'rotate' } },
    'POST /admin/webhooks': { payload: { url: 'https://hooks.example/2' } },
    'PUT /admin/webhooks/:webhook_id': { payload: { state: 'paused' } },
    'POST /admin/webhooks/:webhook_id/replay': { payload: { dead: true } },
    'GET /admin/mail/preview': { query: { kind } },
    'POST /admin/mail/preview': { payload: { kind } },
    'POST /admin/mail/test': { payload: { kind, address: 'a@b.co' } },
    'POST /admin/mail/retry': { payload: { ids: [ids.mail] } },
    'PUT /admin/settings': { payload: { values: { AUTH_MAILER_SUBJECTS_INVITE: 'Hi' } } },
  }
}

function ofProviders({ organization, deleted }: World): Requests {
  return {
    'POST /admin/custom-providers': { payload: custom },
    'PUT /admin/custom-providers/:identifier': { payload: { name: 'C' } },
    'POST /admin/sso/providers': { payload: { type: 'saml', metadata_xml: createIdp().metadata } },
    'PUT /admin/sso/providers/:provider': { payload: { domains: ['corp.example', 'z.example'] } },
    'POST /admin/scim/connections': { payload: { name: 'S', organization_id: organization.id } },
    'PUT /admin/scim/connections/:connection_id': { payload: { name: 'T' } },
    'POST /admin/scim/connections/:connection_id/tokens': { payload: { name: 'T' } },
    'POST /admin/organizations': { payload: { name: 'C' } },
    'POST /admin/organizations/:organization_id/restore': {
      url: `/admin/organizations/${deleted}/restore`,
    },
    'POST /admin/organizations/:organization_id/purge': {
      url: `/admin/organizations/${deleted}/purge`,
    },
    'POST /admin/organization-roles': { payload: { name: 'r2' } },
    'PUT /admin/organization-roles/:role': { payload: { permissions: ['a:b'] } },
  }
}
