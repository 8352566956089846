/** An issuer that gets the name of another one: its ids mean other users. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import {
  add,
  authorizeUrl,
  customOnLoopback,
  finishSignIn,
  oauth2Input,
  oidcInput,
  send,
} from '../../support/custom-providers/requests.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'

const startIssuer = (t: TestContext) =>
  startOpenidProvider(t, { claimsInIdToken: true, https: true })

/** With two issuers, and a user of the first. */
async function withUser(t: TestContext) {
  const [one, two] = [await startIssuer(t), await startIssuer(t)]
  const { app } = await build(t, customOnLoopback)
  await add(app, oidcInput(one.issuer))
  const signIn = async () =>
    finishSignIn(app, await signInAs('ann', await authorizeUrl(app, 'custom:acme')))
  assert.ok((await signIn()).access_token)
  return { app, one, two, signIn }
}

suite('the identifier of a custom provider with identities', () => {
  test('is rejected for another issuer after the provider was deleted, and accepted for its own', async (t) => {
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

  test('keeps its issuer when the provider is changed', async (t) => {
    const { app, one, two } = await withUser(t)
    const { issuer } = two
    const moved = await send(app, 'PUT', '/custom:acme', { issuer })
    assert.deepEqual(statusAndCode(moved), [400, 'conflict'])
    assert.equal((await send(app, 'GET', '/custom:acme')).json().issuer, one.issuer)
    assert.equal((await send(app, 'PUT', '/custom:acme', { name: 'New' })).statusCode, 200)
  })

  test('is free for another issuer when no user is left', async (t) => {
    const { app, two } = await withUser(t)
    await app.db.deleteFrom('users').execute()
    const { issuer } = two
    assert.equal((await send(app, 'PUT', '/custom:acme', { issuer })).statusCode, 200)
  })
})
