/** Compiling a query costs more than running it: frequent requests compile none. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { DefaultQueryCompiler } from 'kysely'

import { asAdmin } from '../support/admin.ts'
import { passkeysOn, tryPasskey, userWithPasskey } from '../support/factors/passkeys.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { call, getUser, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { isBackgroundStatement } from '../support/statements.ts'
import { autoconfirm, newAddress, signIn, signUp, signUpUser } from '../support/users.ts'

type User = Awaited<ReturnType<typeof signUpUser>>
type Send = (app: App, user: User) => Promise<{ statusCode: number; body: string }>

const settings = { ...autoconfirm, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

/** Each time with other values. */
const requests: Record<string, Send> = {
  refresh: (app, { refresh_token }) => refresh(app, refresh_token),
  'GET /user': getUser,
  'PUT /user': (app, { access_token }) =>
    app.inject({
      method: 'PUT',
      url: '/user',
      headers: { authorization: `Bearer ${access_token}` },
      payload: { data: { seen: crypto.randomUUID(), gone: null } },
    }),
  'GET /admin/users/{id}': (app, { user }) => asAdmin(app, 'GET', `/admin/users/${user.id}`),
  'GET /admin/users': (app) =>
    asAdmin(app, 'GET', `/admin/users?page=1&per_page=${randomInt(1, 9)}`),
  'GET /admin/users by cursor': (app) =>
    asAdmin(app, 'GET', `/admin/users?limit=${randomInt(1, 9)}`),
  'a sign-in': (app, { email }) => signIn(app, { email }),
  'an autoconfirmed sign-up': (app) => signUp(app, { email: newAddress() }),
  'an anonymous sign-up': (app) => call(app, '/signup', {}),
}

suite('compiled queries', () => {
  const serverFor = sharedServers()
  for (const [name, request] of Object.entries(requests)) {
    test(`${name} compiles no query the second time`, async (t) => {
      const { app } = await serverFor(settings)
      const users = [await signUpUser(app), await signUpUser(app)]
      const compiledBy = watchCompiler(t)
      const compiled: string[][] = []
      for (const user of users) compiled.push(await compiledBy(() => request(app, user)))
      assert.deepEqual(compiled[1], [])
    })
  }
})

suite('query plans', () => {
  const serverFor = sharedServers()
  test('are cached by Postgres for frequent requests', async () => {
    const { app } = await serverFor({ ...settings, AUTH_DB_MAX_POOL_SIZE: '1' })
    for (const request of Object.values(requests)) {
      for (let times = 0; times < 8; times++) {
        const { statusCode, body } = await request(app, await signUpUser(app))
        assert.equal(statusCode, 200, body)
      }
    }
    // Postgres plans the first five runs with their values before it considers a generic plan.
    const { rows } = await app.pool.query(
      'select statement from pg_prepared_statements where custom_plans > 5',
    )
    assert.deepEqual(rows, [])
  })
})

suite('compiled queries: email', () => {
  const serverFor = sharedServers()
  test('a sign-up compiles no query the second time', async (t) => {
    const { app } = await serverFor({})
    const compiledBy = watchCompiler(t)
    await compiledBy(() => signUp(app, { email: newAddress() }))
    assert.deepEqual(await compiledBy(() => signUp(app, { email: newAddress() })), [])
  })
})

suite('compiled queries: passkeys', () => {
  const serverFor = sharedServers()
  test('a passkey sign-in compiles no query the second time', async (t) => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app)
    const compiledBy = watchCompiler(t)
    await compiledBy(() => tryPasskey(app, device))
    assert.deepEqual(await compiledBy(() => tryPasskey(app, device)), [])
  })
})

/** Runs a request that must succeed and returns the queries compiled for it. */
function watchCompiler(t: TestContext) {
  const compile = t.mock.method(DefaultQueryCompiler.prototype, 'compileQuery').mock
  return async (send: () => ReturnType<Send>): Promise<string[]> => {
    compile.resetCalls()
    const { statusCode, body } = await send()
    assert.equal(statusCode, 200, body)
    const texts = compile.calls.map(({ result }) => result?.sql ?? '')
    return texts.filter(
      (text) => !isBackgroundStatement(text) && !/^(release )?savepoint/.test(text),
    )
  }
}
