/** Authorization codes that are replayed, injected or raced (RFC 9700 §4.5). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  createClient,
  exchangeCode,
  makePkce,
  obtainCode,
  ownConsentPage,
  refreshTokens,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

suite('authorization codes under attack', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('revokes the issued tokens when a code is replayed', async () => {
    const app = await server()
    const client = await createClient(app)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const first = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(first.statusCode, 200)
    const second = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.deepEqual([second.statusCode, second.json().error], [400, 'invalid_grant'])
    const refreshed = await refreshTokens(app, client, first.json().refresh_token)
    assert.equal(refreshed.statusCode, 400)
  })

  test('revokes no tokens when a code is replayed without its verifier or by another client', async () => {
    const app = await server()
    const [client, other] = [await createClient(app), await createClient(app)]
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const first = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(first.statusCode, 200)
    const replays: [typeof client, Record<string, string>][] = [
      [other, { code_verifier: verifier }],
      [client, { code_verifier: makePkce().verifier }],
      [client, {}],
      [client, { code_verifier: verifier, redirect_uri: 'https://app.example/other' }],
    ]
    for (const [by, fields] of replays) {
      const response = await exchangeCode(app, by, code, fields)
      assert.deepEqual([response.statusCode, response.json().error], [400, 'invalid_grant'])
    }
    const refreshed = await refreshTokens(app, client, first.json().refresh_token)
    assert.equal(refreshed.statusCode, 200, refreshed.body)
  })

  test('exchanges a code once when five requests race', async () => {
    const app = await server()
    const client = await createClient(app)
    const { code, verifier } = await obtainCode(app, client, await signUpUser(app))
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => exchangeCode(app, client, code, { code_verifier: verifier })),
    )
    const statuses = responses.map(({ statusCode }) => statusCode).sort()
    assert.deepEqual(statuses, [200, 400, 400, 400, 400])
  })

  test('rejects a code injected into another sign-in', async () => {
    const app = await server()
    const client = await createClient(app)
    const { code } = await obtainCode(app, client, await signUpUser(app))
    const other = makePkce()
    const response = await exchangeCode(app, client, code, { code_verifier: other.verifier })
    assert.equal(response.json().error, 'invalid_grant')
  })

  test('rejects a code after the approving session ended', async () => {
    const app = await server()
    const client = await createClient(app)
    const user = await signUpUser(app)
    const { code, verifier } = await obtainCode(app, client, user)
    await call(app, '/logout', {}, { token: user.access_token })
    const response = await exchangeCode(app, client, code, { code_verifier: verifier })
    assert.equal(response.json().error, 'invalid_grant')
  })
})
