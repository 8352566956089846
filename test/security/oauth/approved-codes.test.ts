/** Approved codes that are not exchanged yet are revoked with the grant and with the user's sessions. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  basic,
  createClient,
  decodeClaims,
  exchangeCode,
  oauthServer,
  obtainCode,
  postForm,
} from '../../support/oauth-server.ts'
import { signedInBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signedIn, signUpUser } from '../../support/users.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

suite('approved codes', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(oauthServer)).app

  const newClient = (app: App) =>
    createClient(app, { grant_types: ['authorization_code', 'refresh_token', deviceGrant] })

  /** The exchange of a device code that a user approved in their browser. */
  async function approvedDevice(app: App, client: OauthClient, email: string) {
    const url = '/oauth/device_authorization'
    const asked = await postForm(app, url, { scope: 'email' }, basic(client))
    const { device_code, user_code } = asked.json()
    const browser = await signedInBrowser(app, email)
    const form = await browser.open('/oauth/device')
    const consent = await browser.submit(form, { action: 'look_up', user_code })
    const done = await browser.submit(consent, { action: 'approve' })
    assert.equal(titleIn(done), 'Your device is connected')
    const fields = { grant_type: deviceGrant, device_code }
    return (by = client) => postForm(app, '/oauth/token', fields, basic(by))
  }

  test('rejects a device code after the user revoked the grant', async () => {
    const app = await server()
    const [client, user] = [await newClient(app), await signUpUser(app)]
    const exchange = await approvedDevice(app, client, user.email)
    const url = `/user/oauth/grants?client_id=${client.client_id}`
    const headers = { authorization: `Bearer ${user.access_token}` }
    assert.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
    const response = await exchange()
    assert.deepEqual([response.statusCode, response.json().error], [400, 'invalid_grant'])
  })

  test('rejects a device code after the client secret was replaced', async () => {
    const app = await server()
    const [client, user] = [await newClient(app), await signUpUser(app)]
    const exchange = await approvedDevice(app, client, user.email)
    const path = `/admin/oauth/clients/${client.client_id}/regenerate_secret`
    const { client_secret } = (await asAdmin(app, 'POST', path, {})).json()
    const response = await exchange({ ...client, client_secret })
    assert.deepEqual([response.statusCode, response.json().error], [400, 'invalid_grant'])
  })

  for (const kind of ['code', 'device code']) {
    test(`rejects a ${kind} after the password was changed in the session that approved it`, async () => {
      const app = await server()
      const [client, { email }] = [await newClient(app), await signUpUser(app)]
      const { exchange, token } = await approvedInSession(app, client, email, kind)
      const changed = await app.inject({
        method: 'PUT',
        url: '/user',
        headers: { authorization: `Bearer ${token}` },
        payload: { password: 'another long password 7' },
      })
      assert.equal(changed.statusCode, 200, changed.body)
      const response = await exchange()
      assert.deepEqual([response.statusCode, response.json().error], [400, 'invalid_grant'])
    })
  }

  /** With the token of the session that approved it. */
  async function approvedInSession(app: App, client: OauthClient, email: string, kind: string) {
    if (kind === 'code') {
      const session = await signedIn(app, email)
      const { code, verifier } = await obtainCode(app, client, session)
      const exchange = () => exchangeCode(app, client, code, { code_verifier: verifier })
      return { exchange, token: session.access_token }
    }
    const exchange = await approvedDevice(app, client, email)
    // The token of the browser's session is not known here: another session takes its place.
    const { access_token: token } = await signedIn(app, email)
    await app.db
      .updateTable('postern_oauth_device_codes')
      .set({ session_id: String(decodeClaims(token).session_id) })
      .where('client_id', '=', client.client_id)
      .execute()
    return { exchange: () => exchange(), token }
  }

  test('causes no server error when an exchange races with the deletion of its user', async () => {
    const app = await server()
    for (let round = 0; round < 5; round++) {
      const [client, user] = [await newClient(app), await signUpUser(app)]
      const exchange = await approvedDevice(app, client, user.email)
      const [exchanged, deleted] = await Promise.all([
        exchange(),
        asAdmin(app, 'DELETE', `/admin/users/${user.user.id}`, {}),
      ])
      assert.equal(deleted.statusCode, 200, deleted.body)
      assert.ok([200, 400].includes(exchanged.statusCode), exchanged.body)
      const after = await call(app, '/oauth/userinfo', undefined, {
        token: exchanged.json().access_token ?? 'none',
      })
      assert.equal(after.statusCode, 401, after.body)
    }
  })
})
