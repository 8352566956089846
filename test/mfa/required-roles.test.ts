/** AUTH_MFA_REQUIRED_ROLES: what people with a listed role may do before they have proven a second factor. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { nilUuid } from '../../db/users.ts'
import type { Session } from '../../schemas/session.ts'
import { adminCall } from '../support/admin.ts'
import { addTotp, everyFactor, prove, send } from '../support/factors.ts'
import { adminToken, newPerson, password, signedIn } from '../support/people.ts'
import { outcomeOf, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const env = {
  ...everyFactor,
  AUTH_MFA_REQUIRED_ROLES: 'editor,service_role',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
}
const toEnrol = [403, 'mfa_enrollment_required']
const toProve = [403, 'insufficient_aal']

const closed: [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object][] = [
  ['PUT', '/user', { data: { name: 'Ann' } }],
  ['GET', '/reauthenticate'],
  ['GET', '/sessions'],
  ['DELETE', `/sessions/${crypto.randomUUID()}`],
  ['GET', '/user/identities/authorize?provider=github'],
  ['DELETE', `/user/identities/${crypto.randomUUID()}`],
  ['POST', '/token?grant_type=id_token', { id_token: 'x.y.z', link_identity: true }],
]

suite('AUTH_MFA_REQUIRED_ROLES', () => {
  const serverFor = sharedServers()

  for (const [method, url, body] of closed) {
    const path = url.replace(/[?].*|[0-9a-f-]{36}/, '')
    test(`${method} ${path} waits for a second factor`, async () => {
      const { app } = await serverFor(env)
      const person = await editor(app)
      assert.deepEqual(outcomeOf(await send(app, method, url, person, body)), toEnrol)
    })
  }

  test('enrolling, reading /user, refreshing and logging out are open', async () => {
    const { app } = await serverFor(env)
    const person = await editor(app)
    const next = await refresh(app, person.refresh_token)
    assert.equal(next.statusCode, 200, next.body)
    assert.equal((await send(app, 'GET', '/user', person)).statusCode, 200)
    const factor = await addTotp(app, person)
    assert.equal((await send(app, 'DELETE', `/factors/${factor.id}`, person)).statusCode, 200)
    assert.equal((await send(app, 'POST', '/logout', person)).statusCode, 204)
  })

  test('with a verified factor, a session must be at aal2', async () => {
    const { app } = await serverFor(env)
    const person = await editor(app)
    const factor = await addTotp(app, person)
    assert.deepEqual(outcomeOf(await send(app, 'GET', '/sessions', person)), toEnrol)
    const raised = await prove(app, person, factor)
    assert.equal((await send(app, 'GET', '/sessions', raised)).statusCode, 200)
    const again = await signedIn(app, person.user.email)
    assert.deepEqual(outcomeOf(await send(app, 'GET', '/sessions', again)), toProve)
  })

  test('people with other roles are not asked', async () => {
    const { app } = await serverFor(env)
    const person = await newPerson(app)
    assert.equal((await send(app, 'GET', '/sessions', person)).statusCode, 200)
  })

  test('a person with an admin role is no admin before', async () => {
    const { app } = await serverFor(env)
    const person = await withRole(app, 'service_role')
    const list = '/admin/users'
    assert.deepEqual(outcomeOf(await send(app, 'GET', list, person)), toEnrol)
    const raised = await prove(app, person, await addTotp(app, person))
    assert.equal((await send(app, 'GET', list, raised)).statusCode, 200)
    const service = { access_token: await adminToken(app) }
    assert.equal((await send(app, 'GET', list, service)).statusCode, 200)
  })

  test('a role that is listed after the token was signed counts, too', async () => {
    const { app } = await serverFor(env)
    const person = await newPerson(app)
    await app.pool.query(`update auth.users set role = 'editor' where id = $1`, [person.user.id])
    assert.deepEqual(outcomeOf(await send(app, 'GET', '/sessions', person)), toEnrol)
  })

  test('so does one that the token alone has, with a session or without one', async () => {
    const { app } = await serverFor(env)
    const claims = await app.jwt.verify((await newPerson(app)).access_token)
    for (const session_id of [claims.session_id ?? '', nilUuid]) {
      const access_token = await app.jwt.sign({ ...claims, session_id, role: 'editor' })
      assert.deepEqual(outcomeOf(await send(app, 'GET', '/sessions', { access_token })), toEnrol)
    }
  })

  const editor = (app: App) => withRole(app, 'editor')

  async function withRole(app: App, role: string): Promise<Session> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password, role, email_confirm: true }
    await adminCall(app, 'POST', '/admin/users', body)
    return signedIn(app, email)
  }
})
