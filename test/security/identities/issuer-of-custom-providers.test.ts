/** The name of a custom provider moved to another issuer: the same ids belong to other users there. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { sql } from 'kysely'

import { lockIssuer } from '../../../db/custom-providers/providers.ts'
import { insertIdentity } from '../../../db/identities/identities.ts'
import {
  add,
  authorizeUrl,
  customOnLoopback,
  emptied,
  finishSignIn,
  oauth2Input,
  oidcInput,
  send,
} from '../../support/custom-providers/requests.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { until } from '../../support/processes/until.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'

const startIssuer = (t: TestContext) =>
  startOpenidProvider(t, { claimsInIdToken: true, https: true })

suite('identifier of a custom provider with identities', () => {
  const servers = shareServers((ending, { env }) =>
    build(ending, { ...customOnLoopback, env: env ?? {} }),
  )

  /** With two issuers, and a provider of the first. */
  async function withProvider(t: TestContext, env: Record<string, string> = {}) {
    const [one, two] = [await startIssuer(t), await startIssuer(t)]
    const settings = { ...customOnLoopback.env, ...autoconfirm, ...env }
    const { app } = await emptied(await servers(settings))
    await add(app, oidcInput(one.issuer))
    return { app, one, two }
  }

  /** The same with a user. */
  async function withUser(t: TestContext) {
    const { app, one, two } = await withProvider(t)
    const signIn = async () =>
      finishSignIn(app, await signInAs('ann', await authorizeUrl(app, 'custom:acme')))
    assert.ok((await signIn()).access_token)
    return { app, one, two, signIn }
  }

  test('is rejected for another issuer after the provider was deleted, and accepted for the same issuer', async (t) => {
    const { app, one, two, signIn } = await withUser(t)
    assert.equal((await send(app, 'DELETE', '/custom:acme')).statusCode, 204)
    const other = await send(app, 'POST', '', oidcInput(two.issuer))
    assert.deepEqual(statusAndCode(other), [400, 'conflict'])
    assert.match(other.body, /Choose another identifier/)
    const asOauth2 = oauth2Input(two.issuer, { identifier: 'custom:acme' })
    assert.deepEqual(statusAndCode(await send(app, 'POST', '', asOauth2)), [400, 'conflict'])
    assert.equal((await send(app, 'GET', '/custom:acme')).statusCode, 404)
    await add(app, oidcInput(one.issuer))
    assert.ok((await signIn()).access_token)
  })

  test('cannot be moved to another issuer', async (t) => {
    const { app, one, two } = await withUser(t)
    const { issuer } = two
    const moved = await send(app, 'PUT', '/custom:acme', { issuer })
    assert.deepEqual(statusAndCode(moved), [400, 'conflict'])
    assert.equal((await send(app, 'GET', '/custom:acme')).json().issuer, one.issuer)
    assert.equal((await send(app, 'PUT', '/custom:acme', { name: 'New' })).statusCode, 200)
  })

  test('is not stored with an identity whose sign-in started at another issuer', async (t) => {
    const hook = await startHookReceiver(t)
    const { app, one, two } = await withProvider(t, hook.env('BEFORE_USER_CREATED'))
    hook.reply({
      act: async (response) => {
        const { issuer } = two
        assert.equal((await send(app, 'PUT', '/custom:acme', { issuer })).statusCode, 200)
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      },
    })
    const callback = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
    const { error_code } = await finishSignIn(app, callback)
    assert.equal(error_code, 'conflict')
    assert.equal(hook.calls.length, 1)
    assert.deepEqual(await app.db.selectFrom('identities').select('id').execute(), [])
    // The provider may go back to its first issuer: it has no identity.
    assert.equal((await send(app, 'PUT', '/custom:acme', { issuer: one.issuer })).statusCode, 200)
  })

  test('cannot be moved to another issuer while a sign-in stores an identity', async (t) => {
    const { app, one, two } = await withProvider(t)
    const user = await signUpUser(app)
    const identity = { provider: 'custom:acme', provider_id: 'ann', identity_data: {} }
    const ends = Promise.withResolvers<void>()
    const holds = Promise.withResolvers<void>()
    const signIn = app.db.transaction().execute(async (trx) => {
      assert.ok(await lockIssuer(trx, { identifier: 'custom:acme', issuer: one.issuer }))
      await insertIdentity(trx, { ...identity, user_id: user.user.id }, new Date())
      holds.resolve()
      await ends.promise
    })
    await holds.promise
    const changed = send(app, 'PUT', '/custom:acme', { issuer: two.issuer })
    const isWaiting = sql<{ pid: number }>`select pid from pg_locks where not granted`
    await until(async () => (await isWaiting.execute(app.db)).rows.length > 0)
    ends.resolve()
    await signIn
    assert.deepEqual(statusAndCode(await changed), [400, 'conflict'])
  })

  test('can be moved to another issuer once no user has an identity of it', async (t) => {
    const { app, two } = await withUser(t)
    await app.db.deleteFrom('users').execute()
    const { issuer } = two
    assert.equal((await send(app, 'PUT', '/custom:acme', { issuer })).statusCode, 200)
  })
})
