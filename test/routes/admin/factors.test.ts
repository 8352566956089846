import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'

import type { Factor } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, newAddress } from '../../support/users.ts'

suite('/admin/users/{user_id}/factors', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
  })

  test('GET lists factors without secrets', async () => {
    const { url, factorId } = await withFactor('totp')
    const [factor] = await adminCall<Factor[]>(app, 'GET', url)
    assert.equal(factor?.id, factorId)
    assert.equal(factor?.factor_type, 'totp')
    assert.ok(!JSON.stringify(factor).includes('secret'))
    const { id } = await create()
    assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${id}/factors`), [])
  })

  test('PUT renames a factor and changes the number of phone factors only', async () => {
    const phone = await withFactor('phone')
    const change = { friendly_name: 'My phone', phone: '+1 555 0107' }
    const changed = await put(phone, change)
    assert.deepEqual([changed.friendly_name, changed.phone], ['My phone', '15550107'])
    const totp = await withFactor('totp')
    assert.equal((await put(totp, { ...change, friendly_name: '' })).phone, '')
  })

  test('PUT rejects a name used by another factor of the user', async () => {
    const { userId, url, factorId } = await withFactor('totp')
    await insertFactor(userId, 'phone', 'taken')
    const response = await asAdmin(app, 'PUT', `${url}/${factorId}`, { friendly_name: 'taken' })
    assert.deepEqual(
      [response.statusCode, response.json().error_code],
      [422, 'mfa_factor_name_conflict'],
    )
  })

  test('PUT rejects a number used by another factor of the user', async () => {
    const { userId, url, factorId } = await withFactor('phone')
    const other = await insertFactor(userId, 'phone', 'other')
    await adminCall(app, 'PUT', `${url}/${other}`, { phone: '+15550108' })
    const response = await asAdmin(app, 'PUT', `${url}/${factorId}`, { phone: '+15550108' })
    assert.deepEqual(
      [response.statusCode, response.json().error_code],
      [422, 'mfa_verified_factor_exists'],
    )
  })

  test('PUT rejects a name that is too long', async () => {
    const { url, factorId } = await withFactor('totp')
    const friendly_name = randomBytes(6_000).toString('base64')
    const response = await asAdmin(app, 'PUT', `${url}/${factorId}`, { friendly_name })
    assert.deepEqual([response.statusCode, response.json().error_code], [400, 'validation_failed'])
  })

  test('DELETE removes the factor and lowers the sessions it stepped up', async () => {
    const { userId, url, factorId } = await withFactor('totp')
    const sessionId = crypto.randomUUID()
    await sql`insert into auth.sessions (id, user_id, aal, factor_id)
      values (${sessionId}, ${userId}, 'aal2', ${factorId})`.execute(app.db)
    await sql`insert into auth.mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
      select gen_random_uuid(), ${sessionId}, unnest(array['password', 'totp']), now(), now()
      `.execute(app.db)

    const removed = await adminCall<Factor>(app, 'DELETE', `${url}/${factorId}`)

    assert.equal(removed.id, factorId)
    assert.deepEqual(await adminCall(app, 'GET', url), [])
    const { rows } = await sql`
      select aal, factor_id, (select array_agg(authentication_method) from auth.mfa_amr_claims
        where session_id = s.id) as methods
      from auth.sessions s where id = ${sessionId}`.execute(app.db)
    assert.deepEqual(rows, [{ aal: 'aal1', factor_id: null, methods: ['password'] }])
  })

  test("PUT and DELETE reject another user's factor, an unknown id and an invalid id", async () => {
    const mine = await withFactor('totp')
    const { url } = await withFactor('totp')
    const rows: [string, string][] = [
      [`${url}/${mine.factorId}`, 'mfa_factor_not_found'],
      [`${url}/${crypto.randomUUID()}`, 'mfa_factor_not_found'],
      [`${url}/seven`, 'validation_failed'],
      [`/admin/users/seven/factors/${mine.factorId}`, 'validation_failed'],
      [`/admin/users/${crypto.randomUUID()}/factors/${mine.factorId}`, 'user_not_found'],
    ]
    for (const [path, code] of rows) {
      for (const method of ['PUT', 'DELETE'] as const) {
        const payload = method === 'PUT' ? { friendly_name: 'x' } : undefined
        const response = await asAdmin(app, method, path, payload)
        assert.deepEqual([response.statusCode, response.json().error_code], [404, code], path)
      }
    }
    assert.equal((await adminCall<Factor[]>(app, 'GET', mine.url)).length, 1)
  })

  function create() {
    return adminCreatedUser(app, { email: newAddress() })
  }

  async function withFactor(type: 'totp' | 'phone') {
    const { id: userId } = await create()
    const factorId = await insertFactor(userId, type, 'first')
    return { userId, factorId, url: `/admin/users/${userId}/factors` }
  }

  async function insertFactor(userId: string, type: string, name: string): Promise<string> {
    const id = crypto.randomUUID()
    await sql`insert into auth.mfa_factors
      (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at) values
      (${id}, ${userId}, ${name}, ${type}, 'verified', 'the secret', now(), now())`.execute(app.db)
    return id
  }

  function put({ url, factorId }: { url: string; factorId: string }, change: object) {
    return adminCall<Factor>(app, 'PUT', `${url}/${factorId}`, change)
  }
})
