/** People whom an admin deletes: with everything, or softly. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/ending.ts'
import { adminToken, createdPerson, enteredPerson } from '../../support/people.ts'
import { getUser, outcomeOf, refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

suite('DELETE /admin/users/{user_id}', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
  })

  test('hard: nothing is left, and the address is free', async () => {
    const { id, session } = await enteredPerson(app, 'hard@example.com')
    const response = await asAdmin(app, 'DELETE', `/admin/users/${id}`)
    assert.equal(response.statusCode, 200)
    assert.deepEqual(response.json(), {})
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${id}`)).statusCode, 404)
    assert.equal((await getUser(app, session)).json().error_code, 'user_not_found')
    await createdPerson(app, { email: 'hard@example.com' })
  })

  test('a content type without a body is no mistake, as SDKs send it', async () => {
    const { id } = await createdPerson(app, { email: 'typed@example.com' })
    const authorization = `Bearer ${await adminToken(app)}`
    const headers = { authorization, 'content-type': 'application/json' }
    const url = `/admin/users/${id}`
    assert.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 200)
  })

  test('soft: the row stays and tells nothing', async () => {
    const { id, session } = await enteredPerson(app, 'soft@example.com', { phone: '15550133' })
    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })

    const user = await adminCall(app, 'GET', `/admin/users/${id}`)
    assert.ok(user.deleted_at)
    assert.match(user.email, /^[\w-]{43}$/)
    assert.match(user.phone, /^[\w-]{15}$/)
    assert.deepEqual([user.app_metadata, user.user_metadata], [{}, {}])
    for (const identity of user.identities ?? []) {
      assert.match(identity.id, /^[\w-]{43}$/)
      assert.deepEqual(identity.identity_data, {})
    }
    assert.ok(!JSON.stringify(user).includes('soft@example.com'))
    assert.notEqual((await getUser(app, session)).statusCode, 200)
    assert.notEqual((await refresh(app, session.refresh_token)).statusCode, 200)

    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
    assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${id}`), user)
    await createdPerson(app, { email: 'soft@example.com', phone: '15550133' })
  })

  test('soft: nothing is left by which somebody came in, or was written to', async () => {
    const { id } = await createdPerson(app, { email: 'gone@example.com', email_confirm: true })
    const link = { type: 'recovery', email: 'gone@example.com' }
    assert.equal((await asAdmin(app, 'POST', '/admin/generate_link', link)).statusCode, 200)
    await app.pool.query(
      `insert into auth.postern_recovery_codes (user_id, code_hash, created_at) values ($1, 'x', now())`,
      [id],
    )
    await app.pool.query(
      `insert into auth.webauthn_credentials (user_id, credential_id, public_key) values ($1, '\\x01', '\\x02')`,
      [id],
    )
    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
    for (const table of ['one_time_tokens', 'postern_recovery_codes', 'webauthn_credentials']) {
      const { rows } = await app.pool.query(`select from auth.${table} where user_id = $1`, [id])
      assert.equal(rows.length, 0, table)
    }
  })

  test('soft: a token without a session, which outlives sign-outs, is of nobody', async () => {
    const { id } = await createdPerson(app, { email: 'once@example.com' })
    const iat = Math.floor(Date.now() / 1000)
    const access_token = await app.jwt.sign({ iss: app.jwt.issuer, sub: id, exp: iat + 60 })
    assert.equal((await getUser(app, { access_token })).statusCode, 200)

    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })

    const after = await getUser(app, { access_token })
    assert.deepEqual(outcomeOf(after), [403, 'user_not_found'])
  })
})
