/** Every method of auth-js for an OAuth server: `admin.oauth` and `oauth`. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { AuthClient, GoTrueAdminApi } from '@supabase/auth-js'

import {
  callbackUrl,
  exchangeCode,
  makePkce,
  ownConsentPage,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { adminToken, newAddress, password } from '../../support/users.ts'

suite('auth-js and the OAuth server', () => {
  const ending = endingOfSuite()
  let app: App
  let url: string
  before(async () => {
    app = (await build(ending, { env: ownConsentPage })).app
    url = await app.listen({ host: '127.0.0.1', port: 0 })
  })

  test('admin.oauth creates, lists, reads, changes, renews and deletes clients', async () => {
    const admin = await adminApi()
    const created = await admin.oauth.createClient({
      client_name: 'By SDK',
      redirect_uris: [callbackUrl],
      scope: 'openid',
      response_types: ['code'],
    })
    assert.equal(created.error, null)
    const id = created.data?.client_id ?? ''
    assert.ok(created.data?.client_secret)
    const listed = await admin.oauth.listClients()
    assert.ok(listed.data.clients.some(({ client_id }) => client_id === id))
    assert.equal((await admin.oauth.getClient(id)).data?.client_name, 'By SDK')
    const changed = await admin.oauth.updateClient(id, { client_name: 'Changed' })
    assert.equal(changed.data?.client_name, 'Changed')
    const renewed = await admin.oauth.regenerateClientSecret(id)
    assert.notEqual(renewed.data?.client_secret, created.data?.client_secret)
    assert.equal((await admin.oauth.deleteClient(id)).error, null)
    assert.equal((await admin.oauth.getClient(id)).error?.code, 'oauth_client_not_found')
  })

  test('oauth reads, approves and denies requests, lists grants and revokes them', async () => {
    const admin = await adminApi()
    const { data: client } = await admin.oauth.createClient({
      client_name: 'By SDK',
      redirect_uris: [callbackUrl],
    })
    assert.ok(client)
    const auth = new AuthClient({ url, autoRefreshToken: false, persistSession: false })
    await auth.signUp({ email: newAddress(), password })
    const { verifier, challenge } = makePkce()
    const begin = () =>
      startAuthorization(app, client, {
        scope: 'openid email',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })

    const denied = await begin()
    await auth.oauth.getAuthorizationDetails(denied)
    const no = await auth.oauth.denyAuthorization(denied)
    assert.match(no.data?.redirect_url ?? '', /error=access_denied/)

    const id = await begin()
    const details = await auth.oauth.getAuthorizationDetails(id)
    assert.ok(details.data && 'authorization_id' in details.data)
    assert.equal(details.data.client.name, 'By SDK')
    const yes = await auth.oauth.approveAuthorization(id)
    const code = new URL(yes.data?.redirect_url ?? '').searchParams.get('code') ?? ''
    assert.equal(
      (await exchangeCode(app, client, code, { code_verifier: verifier })).statusCode,
      200,
    )

    const grants = await auth.oauth.listGrants()
    assert.deepEqual(grants.data?.[0]?.scopes, ['openid', 'email'])
    assert.equal(grants.data?.[0]?.client.id, client.client_id)
    assert.equal((await auth.oauth.revokeGrant({ clientId: client.client_id })).error, null)
    assert.deepEqual((await auth.oauth.listGrants()).data, [])
    const again = await auth.oauth.revokeGrant({ clientId: client.client_id })
    assert.equal(again.error?.code, 'oauth_consent_not_found')
  })

  async function adminApi() {
    const headers = { Authorization: `Bearer ${await adminToken(app)}` }
    return new GoTrueAdminApi({ url, headers })
  }
})
