/** The consent page names resource servers, so an earlier consent does not cover another one (RFC 8707 §3). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  createClient,
  makePkce,
  ownConsentPage,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

const [orders, invoices] = ['https://orders.example', 'https://invoices.example']

suite('consent to resource servers', () => {
  const serverFor = sharedServers()

  test('is requested for each resource server that the user has not granted', async () => {
    const { app } = await serverFor(ownConsentPage)
    const client = await createClient(app, { resources: [orders, invoices] })
    const user = await signUpUser(app)
    const isAsked = async (resource?: string) => {
      const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
      const id = await startAuthorization(app, client, { ...pkce, resource })
      const path = `/oauth/authorizations/${id}`
      const details = await call(app, path, undefined, { token: user.access_token })
      assert.equal(details.statusCode, 200, details.body)
      return details.json().redirect_url === undefined
    }
    await signInClient(app, client, user)
    assert.equal(await isAsked(), false)
    assert.equal(await isAsked(orders), true)
    await signInClient(app, client, user, { resource: orders })
    assert.equal(await isAsked(orders), false)
    assert.equal(await isAsked(invoices), true)
  })
})
