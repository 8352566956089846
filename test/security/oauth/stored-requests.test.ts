/** Any client may start a request of a public client, so its stored size is limited. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  callbackUrl,
  createClient,
  makePkce,
  oauthServer,
  postForm,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'

const long = 'x'.repeat(100_000)

suite('stored authorization requests', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  async function fetchParameters(app: App, more: Record<string, string>) {
    const client = await createClient(app, { token_endpoint_auth_method: 'none' })
    return {
      client_id: client.client_id,
      redirect_uri: callbackUrl,
      response_type: 'code',
      code_challenge: makePkce().challenge,
      code_challenge_method: 'S256',
      ...more,
    }
  }

  test('reject an id_token_hint above the maximum token length', async () => {
    const app = await server()
    const asked = await fetchParameters(app, { id_token_hint: long })
    const response = await postForm(app, '/oauth/authorize', asked)
    const { searchParams } = new URL(String(response.headers.location))
    assert.equal(searchParams.get('error'), 'invalid_request')
    assert.match(searchParams.get('error_description') ?? '', /id_token_hint has more than/)
  })

  test('do not contain pushed parameters that are ignored', async () => {
    const app = await server()
    const asked = await fetchParameters(app, { state: 's' })
    const response = await postForm(app, '/oauth/par', { ...asked, filler: long })
    assert.equal(response.statusCode, 201, response.body)
    const stored = await app.db
      .selectFrom('postern_oauth_pushed_requests')
      .select('parameters')
      .where('client_id', '=', asked.client_id)
      .executeTakeFirstOrThrow()
    assert.deepEqual(stored.parameters, asked)
  })
})
