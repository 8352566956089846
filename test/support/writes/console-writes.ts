/** Writes of the console endpoints, with the change expected in the audit log. */
import { sql } from 'kysely'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../admin.ts'
import type { App } from '../server.ts'
import { adminToken } from '../users.ts'
import type { Write } from '../webhooks/webhook-writes.ts'

const newUser = (app: App): Promise<User> =>
  adminCall(app, 'POST', '/admin/users', { email: `${crypto.randomUUID()}@example.com` })

const confirmedUser = (app: App): Promise<User> =>
  adminCall(app, 'POST', '/admin/users', {
    email: `${crypto.randomUUID()}@example.com`,
    email_confirm: true,
  })

export const consoleWrites: Record<string, Write> = {
  'POST /admin/admins': {
    action: 'admin_added',
    async write(app) {
      const { id } = await confirmedUser(app)
      await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'support' })
      return { after: { role: 'support' } }
    },
  },
  'PUT /admin/admins/{user_id}': {
    action: 'admin_role_changed',
    async write(app) {
      const { id } = await confirmedUser(app)
      await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'support' })
      await adminCall(app, 'PUT', `/admin/admins/${id}`, { role: 'operator' })
      return { before: { role: 'support' }, after: { role: 'operator' } }
    },
  },
  'DELETE /admin/admins/{user_id}': {
    action: 'admin_removed',
    async write(app) {
      const { id } = await confirmedUser(app)
      await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'support' })
      await asAdmin(app, 'DELETE', `/admin/admins/${id}`)
      return { before: { role: 'support' } }
    },
  },
  'POST /admin/users/bulk': {
    action: 'user_deleted',
    async write(app) {
      const { id, email } = await newUser(app)
      await adminCall<object>(app, 'POST', '/admin/users/bulk', { action: 'delete', ids: [id] })
      const fields = { aud: 'authenticated', role: 'authenticated', phone: '', is_anonymous: false }
      const app_metadata = { provider: 'email', providers: ['email'] }
      return { before: { email, app_metadata, ...fields } }
    },
  },
  'POST /admin/users/import': {
    action: 'users_imported',
    async write(app) {
      const authorization = `Bearer ${await adminToken(app)}`
      const headers = { authorization, 'content-type': 'text/csv' }
      const payload = `email\n${crypto.randomUUID()}@example.com\n`
      await app.inject({ method: 'POST', url: '/admin/users/import', headers, payload })
      return {}
    },
  },
  'POST /admin/users/{user_id}/send_link': {
    action: 'user_confirmation_requested',
    async write(app) {
      const { id } = await newUser(app)
      const body = { type: 'confirmation' }
      await adminCall<object>(app, 'POST', `/admin/users/${id}/send_link`, body)
      return {}
    },
  },
  'DELETE /admin/users/{user_id}/grants/{client_id}': {
    action: 'token_revoked',
    async write(app) {
      const { id } = await newUser(app)
      const client = await insertConsent(app, id)
      await asAdmin(app, 'DELETE', `/admin/users/${id}/grants/${client}`)
      return {}
    },
  },
  'POST /admin/mail/{id}/retry': {
    action: 'mail_retried',
    async write(app) {
      await adminCall<object>(app, 'POST', `/admin/mail/${await insertDeadMail(app)}/retry`)
      return {}
    },
  },
  'POST /admin/mail/retry': {
    action: 'mail_retried',
    async write(app) {
      await adminCall<object>(app, 'POST', '/admin/mail/retry')
      return {}
    },
  },
  'DELETE /admin/mail/{id}': {
    action: 'mail_dropped',
    async write(app) {
      await asAdmin(app, 'DELETE', `/admin/mail/${await insertDeadMail(app)}`)
      return {}
    },
  },
  'PUT /admin/settings': {
    action: 'settings_changed',
    async write(app) {
      const values = { AUTH_RATE_LIMIT_SSO: '12' }
      await adminCall<object>(app, 'PUT', '/admin/settings', { values })
      return { before: { AUTH_RATE_LIMIT_SSO: null }, after: values }
    },
  },
  'DELETE /admin/settings/{name}': {
    action: 'settings_changed',
    async write(app) {
      const values = { AUTH_RATE_LIMIT_OTP: '13' }
      await adminCall<object>(app, 'PUT', '/admin/settings', { values })
      await adminCall<object>(app, 'DELETE', '/admin/settings/AUTH_RATE_LIMIT_OTP')
      return { before: values, after: { AUTH_RATE_LIMIT_OTP: null } }
    },
  },
  'POST /admin/settings/history/{id}/revert': {
    action: 'settings_changed',
    async write(app) {
      const values = { AUTH_RATE_LIMIT_WEB3: '14' }
      await adminCall<object>(app, 'PUT', '/admin/settings', { values })
      const history = '/admin/settings/history'
      const { changes } = await adminCall<{ changes: { id: number }[] }>(app, 'GET', history)
      await adminCall<object>(app, 'POST', `${history}/${changes[0]?.id}/revert`)
      return { before: values, after: { AUTH_RATE_LIMIT_WEB3: null } }
    },
  },
  'POST /admin/providers/{name}/test': {
    action: 'provider_tested',
    async write(app) {
      await adminCall<object>(app, 'POST', '/admin/providers/github/test')
      return {}
    },
  },
  'POST /admin/mail/test': {
    action: 'mail_tested',
    async write(app) {
      const body = { kind: 'recovery', address: 'ann@example.com' }
      await adminCall<object>(app, 'POST', '/admin/mail/test', body)
      return {}
    },
  },
}

async function insertDeadMail(app: App): Promise<string> {
  const id = crypto.randomUUID()
  await sql`
    insert into auth.postern_mail_messages
      (id, kind, payload, state, attempts, reason, created_at, updated_at)
    values (${id}, 'recovery', 'x', 'dead', 1, 'gave up', now(), now())`.execute(app.db)
  return id
}

async function insertConsent(app: App, userId: string): Promise<string> {
  const id = crypto.randomUUID()
  await sql`
    insert into auth.oauth_clients
      (id, registration_type, redirect_uris, grant_types, client_type, token_endpoint_auth_method)
    values (${id}, 'manual', 'https://app.example', 'authorization_code', 'public', 'none')`.execute(
    app.db,
  )
  await sql`
    insert into auth.oauth_consents (id, user_id, client_id, scopes, granted_at)
    values (gen_random_uuid(), ${userId}, ${id}, 'openid', now())`.execute(app.db)
  return id
}
