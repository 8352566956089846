/** A sign-out that is under way when the pages store a consent: the consent must not outlive it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { lockUserRow, pauseRevocation } from '../../support/locked-user.ts'
import { createClient, makePkce, oauthServer, postForm } from '../../support/oauth-server.ts'
import {
  authorizeUrl,
  type openBrowser,
  type PageResponse,
  signedInBrowser,
  titleIn,
} from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signedIn, signUpUser } from '../../support/users.ts'

type Browser = ReturnType<typeof openBrowser>

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/** The last page before the approval. */
const consents: Record<string, (app: App, browser: Browser) => Promise<PageResponse>> = {
  async 'of an app'(app, browser) {
    const client = await createClient(app, { client_name: 'Grafana' })
    return browser.open(authorizeUrl(client, makePkce().challenge))
  },
  async 'of a device'(app, browser) {
    const client = await createClient(app, {
      client_name: 'Television',
      token_endpoint_auth_method: 'none',
      grant_types: [deviceGrant],
    })
    const asked = { client_id: client.client_id, scope: 'openid' }
    const { user_code } = (await postForm(app, '/oauth/device_authorization', asked)).json()
    return browser.submit(await browser.open('/oauth/device'), { action: 'look_up', user_code })
  },
}

suite('a consent at the pages', () => {
  const serverFor = sharedServers()

  async function stored(app: App, userId: string) {
    const consent = await app.db
      .selectFrom('oauth_consents')
      .select('id')
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .execute()
    const device = await app.db
      .selectFrom('postern_oauth_device_codes')
      .select('id')
      .where('user_id', '=', userId)
      .execute()
    return consent.length + device.length
  }

  async function opened() {
    const { app } = await serverFor(oauthServer)
    const { email, user } = await signUpUser(app)
    return { app, email, user, browser: await signedInBrowser(app, email) }
  }

  for (const [what, open] of Object.entries(consents)) {
    test(`${what} ends with a global sign-out that was first`, async () => {
      const { app, email, user, browser } = await opened()
      const page = await open(app, browser)
      assert.match(titleIn(page), /requests access/)
      const { access_token: token } = await signedIn(app, email)
      const lock = await lockUserRow(app, user.id)
      const signedOut = await lock.queue(1, () => call(app, '/logout', {}, { token }))
      const approved = await lock.queue(2, () => browser.submit(page, { action: 'approve' }))
      await lock.release()
      assert.equal((await signedOut.response).statusCode, 204)
      assert.equal(titleIn(await approved.response), 'Sign in')
      assert.equal(await stored(app, user.id), 0)
    })

    test(`${what} is not stored when the session ends meanwhile`, async () => {
      const { app, user, browser } = await opened()
      const page = await open(app, browser)
      const [session] = await app.db
        .selectFrom('sessions')
        .innerJoin('postern_page_sessions', 'session_id', 'sessions.id')
        .select('sessions.id')
        .where('user_id', '=', user.id)
        .execute()
      const ending = await pauseRevocation(app, session?.id ?? '')
      const approved = await ending.queue(1, () => browser.submit(page, { action: 'approve' }))
      await ending.release()
      assert.equal(titleIn(await approved.response), 'Sign in')
      assert.equal(await stored(app, user.id), 0)
    })

    test(`${what} is not stored when the user is banned meanwhile`, async () => {
      const { app, user, browser } = await opened()
      const page = await open(app, browser)
      const lock = await lockUserRow(app, user.id)
      const banned = await lock.queue(1, () =>
        asAdmin(app, 'PUT', `/admin/users/${user.id}`, { ban_duration: '1h' }),
      )
      const approved = await lock.queue(2, () => browser.submit(page, { action: 'approve' }))
      await lock.release()
      assert.equal((await banned.response).statusCode, 200)
      await approved.response
      assert.equal(await stored(app, user.id), 0)
    })
  }

  test('that exists gives no code to a session that ends meanwhile', async () => {
    const { app, email, user, browser } = await opened()
    const client = await createClient(app, { client_name: 'Grafana' })
    const challenge = makePkce().challenge
    const consent = await browser.open(authorizeUrl(client, challenge))
    await browser.submit(consent, { action: 'approve' })
    // A consent of the same day ends with the sign-out.
    await app.db
      .updateTable('oauth_consents')
      .set({ granted_at: new Date(Date.now() - 2 * 86_400_000) })
      .where('user_id', '=', user.id)
      .execute()
    for (const prompt of [{}, { prompt: 'none' }]) {
      const own = await signedInBrowser(app, email)
      const { location = '' } = await own.send('GET', authorizeUrl(client, challenge, prompt))
      const { access_token: token } = await signedIn(app, email)
      const lock = await lockUserRow(app, user.id)
      const signedOut = await lock.queue(1, () => call(app, '/logout', {}, { token }))
      const asked = await lock.queue(2, () => own.send('GET', location))
      await lock.release()
      assert.equal((await signedOut.response).statusCode, 204)
      const answer = (await asked.response).location ?? ''
      assert.doesNotMatch(answer, /[?&]code=/)
      assert.match(answer, prompt.prompt ? /error=login_required/ : /\/sign-in/)
    }
  })
})
