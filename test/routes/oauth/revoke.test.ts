/** Revocation (RFC 7009) and introspection (RFC 7662). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  basic,
  createClient,
  ownConsentPage,
  postForm,
  refreshTokens,
  signInClient,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { signUpUser } from '../../support/users.ts'

const resource = 'https://mcp.example/api'

suite('/oauth/revoke and /oauth/introspect', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('revokes a token for its own client only', async () => {
    const app = await server()
    const [client, other] = [await createClient(app), await createClient(app)]
    const tokens = await signInClient(app, client, await signUpUser(app))
    const { access_token: token } = tokens
    assert.equal((await postForm(app, '/oauth/revoke', { token }, basic(other))).statusCode, 200)
    const refreshed = (await refreshTokens(app, client, tokens.refresh_token)).json()
    const revoke = { token: refreshed.refresh_token }
    assert.equal((await postForm(app, '/oauth/revoke', revoke, basic(client))).statusCode, 200)
    const again = await refreshTokens(app, client, refreshed.refresh_token)
    assert.equal(again.statusCode, 400)
    const unknown = await postForm(app, '/oauth/revoke', { token: 'x' }, basic(client))
    assert.equal(unknown.statusCode, 200)
  })

  test('introspects a token for its client and its resource server only', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const client = await createClient(app, { resources: [resource] })
    const [api, unrelated] = [
      await createClient(app, { resources: [resource] }),
      await createClient(app),
    ]
    const tokens = await signInClient(app, client, user, { resource })
    const { access_token: token } = tokens
    const look = async (by: typeof client, value = token) =>
      (await postForm(app, '/oauth/introspect', { token: value }, basic(by))).json()
    const shown = await look(client)
    assert.equal(shown.active, true)
    assert.equal(shown.sub, user.user.id)
    assert.equal(shown.client_id, client.client_id)
    assert.equal((await look(api)).active, true)
    assert.deepEqual(await look(unrelated), { active: false })
    assert.equal((await look(client, tokens.refresh_token)).active, true)
    await refreshTokens(app, client, tokens.refresh_token)
    assert.deepEqual(await look(client, tokens.refresh_token), { active: false })
    assert.deepEqual(await look(client, user.access_token), { active: false })
  })

  test('responds identically to foreign, unknown and malformed tokens', async () => {
    const app = await server()
    const [client, other] = [await createClient(app), await createClient(app)]
    const { access_token } = await signInClient(app, client, await signUpUser(app))
    for (const token of [access_token, 'unknown', 'a.b.c']) {
      const looked = await postForm(app, '/oauth/introspect', { token }, basic(other))
      assert.deepEqual(looked.json(), { active: false })
      const revoked = await postForm(app, '/oauth/revoke', { token }, basic(other))
      assert.deepEqual([revoked.statusCode, revoked.body], [200, '{}'])
    }
    const headers = { authorization: `Bearer ${access_token}` }
    assert.equal((await app.inject({ url: '/oauth/userinfo', headers })).statusCode, 200)
  })
})
