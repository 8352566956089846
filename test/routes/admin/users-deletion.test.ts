/** Deletion of users by an admin: hard or soft. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { insertRecoveryCodes } from '../../support/factors/recovery-codes.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { getUser, refresh, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  adminToken,
  newAddress,
  signedInAdminCreatedUser,
} from '../../support/users.ts'

suite('DELETE /admin/users/{user_id}', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
  })

  test('hard: deletes all data and frees the email', async () => {
    const { id, session } = await signedInAdminCreatedUser(app, 'hard@example.com')
    const response = await asAdmin(app, 'DELETE', `/admin/users/${id}`)
    assert.equal(response.statusCode, 200)
    assert.deepEqual(response.json(), {})
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${id}`)).statusCode, 404)
    assert.equal((await getUser(app, session)).json().error_code, 'user_not_found')
    await adminCreatedUser(app, { email: 'hard@example.com' })
  })

  test('accepts a content type without a body, as SDKs send it', async () => {
    const { id } = await adminCreatedUser(app, { email: 'typed@example.com' })
    const authorization = `Bearer ${await adminToken(app)}`
    const headers = { authorization, 'content-type': 'application/json' }
    const url = `/admin/users/${id}`
    assert.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 200)
  })

  for (const checked of ['', 'deferrable initially deferred', 'on delete restrict']) {
    test(`hard: returns 409 while another table references the user (${checked || 'immediate check'})`, async () => {
      const email = newAddress()
      const { id, session } = await signedInAdminCreatedUser(app, email)
      const table = `orders_${id.slice(0, 8)}`
      await app.pool.query(
        `create table public.${table} (user_id uuid
          constraint ${table}_owner references auth.users (id) ${checked})`,
      )
      await app.pool.query(`insert into public.${table} values ($1)`, [id])

      const response = await asAdmin(app, 'DELETE', `/admin/users/${id}`)

      assert.deepEqual(statusAndCode(response), [409, 'conflict'])
      assert.match(
        response.json().msg,
        new RegExp(`constraint "${table}_owner" of table public.${table}\\. .*soft-delete`),
      )
      assert.equal((await getUser(app, session)).statusCode, 200)
      await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
      await app.pool.query(`delete from public.${table}`)
      await adminCall(app, 'DELETE', `/admin/users/${id}`)
    })
  }

  test('soft: keeps the row with hashed identifiers', async () => {
    const { id, session } = await signedInAdminCreatedUser(app, 'soft@example.com', {
      phone: '15550133',
    })
    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })

    const user = await adminCall(app, 'GET', `/admin/users/${id}`)
    assert.ok(user.deleted_at)
    assert.match(user.email, /^[\w-]{43}$/)
    assert.match(user.phone, /^[\w-]{15}$/)
    assert.deepEqual([user.app_metadata, user.user_metadata], [{}, {}])
    for (const identity of user.identities ?? []) {
      assert.match(identity.id, /^[\w-]{43}$/)
      assert.ok(!('identity_data' in identity))
    }
    assert.ok(!JSON.stringify(user).includes('soft@example.com'))
    assert.notEqual((await getUser(app, session)).statusCode, 200)
    assert.notEqual((await refresh(app, session.refresh_token)).statusCode, 200)

    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
    assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${id}`), user)
    await adminCreatedUser(app, { email: 'soft@example.com', phone: '15550133' })
  })

  test('soft: deletes credentials, codes and emails', async () => {
    const { id } = await adminCreatedUser(app, { email: 'gone@example.com', email_confirm: true })
    const link = { type: 'recovery', email: 'gone@example.com' }
    assert.equal((await asAdmin(app, 'POST', '/admin/generate_link', link)).statusCode, 200)
    await insertRecoveryCodes(app, id)
    await app.pool.query(
      `insert into auth.webauthn_credentials (user_id, credential_id, public_key) values ($1, '\\x01', '\\x02')`,
      [id],
    )
    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
    for (const table of ['one_time_tokens', 'mfa_recovery_code_sets', 'webauthn_credentials']) {
      const { rows } = await app.pool.query(`select from auth.${table} where user_id = $1`, [id])
      assert.equal(rows.length, 0, table)
    }
  })

  test('soft: rejects a token without a session', async () => {
    const { id } = await adminCreatedUser(app, { email: 'once@example.com' })
    const iat = Math.floor(Date.now() / 1000)
    const access_token = await app.jwt.sign({ iss: app.jwt.issuer, sub: id, exp: iat + 60 })
    assert.equal((await getUser(app, { access_token })).statusCode, 200)

    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })

    const after = await getUser(app, { access_token })
    assert.deepEqual(statusAndCode(after), [403, 'user_not_found'])
  })
})
