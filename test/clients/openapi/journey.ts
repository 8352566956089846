/** Copied next to the generated types and run there (../openapi.clients.ts). */
import assert from 'node:assert/strict'

import createClient from 'openapi-fetch'

import type { paths } from './api.d.ts'

const { SERVER = '', SERVICE_KEY = '' } = process.env
const api = createClient<paths>({ baseUrl: SERVER })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const email = `generated-${crypto.randomUUID()}@example.com`
const password = 'correct horse battery'

const created = await api.POST('/admin/users', {
  body: { email, password, email_confirm: true },
  headers: bearer(SERVICE_KEY),
})
assert.equal(created.data?.email, email)

const signedIn = await api.POST('/token', {
  params: { query: { grant_type: 'password' } },
  body: { email, password },
})
assert.ok(signedIn.data)
const headers = bearer(signedIn.data.access_token)
const lifetime: number = signedIn.data.expires_in
assert.equal(lifetime, 3600)

const changed = await api.PUT('/user', { body: { data: { name: 'Ann' } }, headers })
assert.deepEqual(changed.data?.user_metadata.name, 'Ann')
const me = await api.GET('/user', { headers })
assert.equal(me.data?.id, signedIn.data.user.id)

const refreshed = await api.POST('/token', {
  params: { query: { grant_type: 'refresh_token' } },
  body: { refresh_token: signedIn.data.refresh_token },
})
assert.ok(refreshed.data?.refresh_token)

const wrong = await api.POST('/token', {
  params: { query: { grant_type: 'password' } },
  body: { email, password: 'wrong password' },
})
assert.equal(wrong.error?.error_code, 'invalid_credentials')

const ended = await api.POST('/logout', { params: { query: { scope: 'local' } }, headers })
assert.equal(ended.response.status, 204)
