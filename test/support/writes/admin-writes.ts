/** Each admin write, with the change expected in the audit log. */
import { sql } from 'kysely'

import type { SigningKey } from '../../../schemas/signing-key.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../admin.ts'
import { organizationWrites } from '../organizations/organization-writes.ts'
import { scimWrites } from '../scim/writes.ts'
import type { App } from '../server.ts'
import { type Write, webhookWrites } from '../webhooks/webhook-writes.ts'
import { consoleWrites } from './console-writes.ts'
import { oauthClientWrites } from './oauth-client-writes.ts'
import { providerWrites } from './provider-writes.ts'

export interface Keys {
  keys: SigningKey[]
}

export const secret = 'a very secret passphrase'

export const adminWrites: Record<string, Write> = {
  ...webhookWrites,
  ...providerWrites,
  ...scimWrites,
  ...consoleWrites,
  ...oauthClientWrites,
  ...organizationWrites,
  'POST /admin/users': {
    action: 'user_signedup',
    async write(app) {
      const email = newEmail()
      const body = { email, password: secret, role: 'editor', user_metadata: { city: 'Bonn' } }
      await adminCall(app, 'POST', '/admin/users', body)
      return { after: made(email, { role: 'editor', user_metadata: { city: 'Bonn' } }) }
    },
  },
  'POST /admin/users/{user_id}': {
    action: 'user_signedup',
    async write(app) {
      const email = newEmail()
      await adminCall(app, 'POST', `/admin/users/${crypto.randomUUID()}`, { email })
      return { after: made(email) }
    },
  },
  'PUT /admin/users/{user_id}': {
    action: 'user_modified',
    async write(app) {
      const { id, email } = await user(app, {
        user_metadata: { city: 'Bonn', kept: true, gone: 1 },
      })
      const changed = newEmail()
      await adminCall(app, 'PUT', `/admin/users/${id}`, {
        email: changed,
        password: `${secret} 2`,
        role: 'editor',
        user_metadata: { city: 'Köln', gone: null, long: 'x'.repeat(5000) },
        app_metadata: { plan: 'gold' },
      })
      return {
        before: { email, role: 'authenticated', user_metadata: { city: 'Bonn', gone: 1 } },
        after: {
          email: changed,
          role: 'editor',
          user_metadata: { city: 'Köln', long: '(5002 bytes)' },
          app_metadata: { plan: 'gold' },
        },
      }
    },
  },
  'DELETE /admin/users/{user_id}': {
    action: 'user_deleted',
    async write(app) {
      const { id, email } = await user(app, { role: 'editor', user_metadata: { city: 'Bonn' } })
      await adminCall(app, 'DELETE', `/admin/users/${id}`)
      return { before: made(email, { role: 'editor' }) }
    },
  },
  'PUT /admin/users/{user_id}/factors/{factor_id}': {
    action: 'factor_updated',
    async write(app) {
      const { id } = await user(app)
      const factor = await insertFactor(app, id)
      const url = `/admin/users/${id}/factors/${factor}`
      await adminCall(app, 'PUT', url, { friendly_name: 'new', phone: '+1 555 0107' })
      const before = { friendly_name: 'old', phone: '15550100' }
      return { before, after: { friendly_name: 'new', phone: '15550107' } }
    },
  },
  'DELETE /admin/users/{user_id}/factors/{factor_id}': {
    action: 'factor_deleted',
    async write(app) {
      const { id } = await user(app)
      const factor = await insertFactor(app, id)
      await adminCall(app, 'DELETE', `/admin/users/${id}/factors/${factor}`)
      const rest = { factor_type: 'phone', status: 'verified', phone: '15550100' }
      return { before: { friendly_name: 'old', ...rest } }
    },
  },
  'DELETE /admin/users/{user_id}/factors/recovery_codes': {
    action: 'recovery_codes_deleted',
    async write(app) {
      const { id } = await user(app)
      await asAdmin(app, 'DELETE', `/admin/users/${id}/factors/recovery_codes`)
      return {}
    },
  },
  'DELETE /admin/users/{user_id}/passkeys/{passkey_id}': {
    action: 'passkey_deleted',
    async write(app) {
      const { id } = await user(app)
      const passkey = await insertPasskey(app, id)
      await asAdmin(app, 'DELETE', `/admin/users/${id}/passkeys/${passkey}`)
      return {}
    },
  },
  'PUT /admin/users/{user_id}/username': {
    action: 'user_modified',
    async write(app) {
      const { id } = await user(app)
      const url = `/admin/users/${id}/username`
      await adminCall(app, 'PUT', url, { username: `first-${id.slice(0, 8)}` })
      const username = `second-${id.slice(0, 8)}`
      await adminCall(app, 'PUT', url, { username })
      return { before: { username: `first-${id.slice(0, 8)}` }, after: { username } }
    },
  },
  'DELETE /admin/users/{user_id}/username': {
    action: 'user_modified',
    async write(app) {
      const { id } = await user(app)
      const username = `name-${id.slice(0, 8)}`
      await adminCall(app, 'PUT', `/admin/users/${id}/username`, { username })
      await asAdmin(app, 'DELETE', `/admin/users/${id}/username`)
      return { before: { username } }
    },
  },
  'POST /admin/users/{user_id}/impersonate': {
    action: 'user_impersonated',
    async write(app) {
      const { id } = await user(app)
      await adminCall(app, 'POST', `/admin/users/${id}/impersonate`)
      return {}
    },
  },
  'DELETE /admin/users/{user_id}/sessions': {
    action: 'logout',
    async write(app) {
      const { id } = await user(app)
      await asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`)
      return {}
    },
  },
  'DELETE /admin/users/{user_id}/sessions/{id}': {
    action: 'logout',
    async write(app) {
      const { id } = await user(app)
      await adminCall(app, 'POST', `/admin/users/${id}/impersonate`)
      const path = `/admin/users/${id}/sessions`
      const { sessions } = await adminCall<{ sessions: { id: string }[] }>(app, 'GET', path)
      await asAdmin(app, 'DELETE', `${path}/${sessions[0]?.id}`)
      return {}
    },
  },
  'POST /admin/generate_link': {
    action: 'user_invited',
    async write(app) {
      const email = newEmail()
      const body = { type: 'invite', email, data: { city: 'Bonn' } }
      const link = await adminCall(app, 'POST', '/admin/generate_link', body)
      return { after: made(email, pickInvitation(link)) }
    },
  },
  'POST /invite': {
    action: 'user_invited',
    async write(app) {
      const email = newEmail()
      const invited = await adminCall(app, 'POST', '/invite', { email, data: { city: 'Bonn' } })
      return { after: made(email, pickInvitation(invited)) }
    },
  },
  'POST /admin/users/{user_id}/resend_invitation': {
    action: 'user_invited',
    async write(app) {
      const { id } = await adminCall(app, 'POST', '/invite', { email: newEmail() })
      await adminCall(app, 'POST', `/admin/users/${id}/resend_invitation`)
      return {}
    },
  },
  'POST /admin/keys': {
    action: 'signing_key_rotated',
    async write(app) {
      const { keys } = await adminCall<Keys>(app, 'POST', '/admin/keys', { action: 'rotate' })
      const { kid = '', ...shown } = keys.at(-1) ?? {}
      return { after: { [kid]: { kid, ...shown } } }
    },
  },
}

const newEmail = () => `${crypto.randomUUID()}@example.com`

/** The representation of a new user without variable fields. */
function made(email: string | undefined, more: Partial<User> = {}) {
  return {
    email,
    aud: 'authenticated',
    role: 'authenticated',
    phone: '',
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    ...more,
  }
}

function pickInvitation({ invited_at = '', confirmation_sent_at = '', user_metadata }: User) {
  return { invited_at, confirmation_sent_at, user_metadata }
}

export function user(app: App, more: object = {}): Promise<User> {
  return adminCall(app, 'POST', '/admin/users', { email: newEmail(), ...more })
}

async function insertFactor(app: App, userId: string): Promise<string> {
  const id = crypto.randomUUID()
  await sql`
    insert into auth.mfa_factors
      (id, user_id, friendly_name, factor_type, status, phone, created_at, updated_at)
    values (${id}, ${userId}, 'old', 'phone', 'verified', '15550100', now(), now())`.execute(app.db)
  return id
}

async function insertPasskey(app: App, userId: string): Promise<string> {
  const id = crypto.randomUUID()
  await sql`
    insert into auth.webauthn_credentials (id, user_id, credential_id, public_key)
    values (${id}, ${userId}, ${Buffer.from(id)}, ${Buffer.from(id)})`.execute(app.db)
  return id
}
