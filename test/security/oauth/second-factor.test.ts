/** A client must not get a session by the first factor alone where the pages require the second. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { addTotp, send, stepUp, userWithTotp } from '../../support/factors/factors.ts'
import {
  createClient,
  decodeClaims,
  exchangeCode,
  makePkce,
  oauthServer,
  obtainCode,
  ownConsentPage,
  postForm,
  refreshTokens,
  signInClient,
  startAuthorization,
  type Tokens,
} from '../../support/oauth-server.ts'
import { authorizeUrl, openBrowser, signedInBrowser, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { password, signedIn, signUpUser } from '../../support/users.ts'

const hosted = { ...oauthServer, AUTH_MFA_TOTP_ENROLL_ENABLED: 'true' }
const required = {
  ...hosted,
  AUTH_MFA_REQUIRED_ROLES: 'authenticated',
  AUTH_ACCOUNT_PAGE_ENABLED: 'true',
}
const own = { ...ownConsentPage, AUTH_MFA_TOTP_ENROLL_ENABLED: 'true' }

suite('second factor and clients', () => {
  const serverFor = sharedServers()

  suite('second factor before consent', () => {
    async function withConsent(app: App) {
      const client = await createClient(app)
      const { email, factor } = await userWithTotp(app)
      const browser = openBrowser(app)
      const signInPage = await browser.open(authorizeUrl(client, makePkce().challenge))
      const second = await browser.submit(signInPage, { email, password, action: 'password' })
      const consent = await browser.submit(second, { code: factor.code(1), action: 'totp' })
      await browser.submit(consent, { action: 'approve' })
      return { client, email }
    }

    test('prompt=none issues no code before the second factor, even with consent', async () => {
      const { app } = await serverFor(hosted)
      const { client, email } = await withConsent(app)
      const attacker = openBrowser(app)
      await attacker.submit(await attacker.open('/sign-in'), {
        email,
        password,
        action: 'password',
      })
      const none = authorizeUrl(client, makePkce().challenge, { prompt: 'none' })
      const { searchParams } = new URL((await attacker.open(none)).location ?? '')
      assert.equal(searchParams.get('code'), null)
      assert.equal(searchParams.get('error'), 'interaction_required')
      const asked = await attacker.open(authorizeUrl(client, makePkce().challenge))
      assert.equal(titleIn(asked), 'Second factor')
    })

    test('rejects an approval by the JSON API at aal1', async () => {
      const { app } = await serverFor(hosted)
      const { client, email } = await withConsent(app)
      const { access_token: token } = await signedIn(app, email)
      const challenge = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
      const id = await startAuthorization(app, client, challenge)
      const read = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
      assert.equal(read.json().redirect_url, undefined)
      const path = `/oauth/authorizations/${id}/consent`
      const approved = await call(app, path, { action: 'approve' }, { token })
      assert.deepEqual([approved.statusCode, approved.json().error_code], [403, 'insufficient_aal'])
      const denied = await call(app, path, { action: 'deny' }, { token })
      assert.equal(denied.statusCode, 200, denied.body)
    })

    test('requires a user whose role needs a second factor to add one before consent', async () => {
      const { app } = await serverFor(required)
      const grant_types = ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code']
      const client = await createClient(app, { grant_types, token_endpoint_auth_method: 'none' })
      const browser = await signedInBrowser(app, (await signUpUser(app)).email)
      const asked = await browser.open(authorizeUrl(client, makePkce().challenge))
      assert.equal(titleIn(asked), 'Second factors')
      const none = authorizeUrl(client, makePkce().challenge, { prompt: 'none' })
      const { searchParams } = new URL((await browser.open(none)).location ?? '')
      assert.equal(searchParams.get('error'), 'interaction_required')
      const { client_id } = client
      const codes = await postForm(app, '/oauth/device_authorization', { client_id })
      const { user_code } = codes.json()
      const form = await browser.open('/oauth/device')
      const entered = await browser.submit(form, { action: 'look_up', user_code })
      assert.equal(titleIn(entered), 'Second factors')
    })

    test('is required of a user who has one, also on a consent page of the operator', async () => {
      const { app } = await serverFor(own)
      const client = await createClient(app)
      const { email } = await userWithTotp(app)
      const { access_token: token } = await signedIn(app, email)
      const challenge = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
      const id = await startAuthorization(app, client, challenge)
      await call(app, `/oauth/authorizations/${id}`, undefined, { token })
      const path = `/oauth/authorizations/${id}/consent`
      const approved = await call(app, path, { action: 'approve' }, { token })
      assert.deepEqual(statusAndCode(approved), [403, 'insufficient_aal'])
    })
  })

  suite('factor removed after the consent', () => {
    type Remove = (app: App, user: Session, factorId: string) => ReturnType<typeof asAdmin>
    const removals: Record<string, Remove> = {
      'the user': async (app, user, id) => send(app, 'DELETE', `/factors/${id}`, user),
      'an admin': (app, { user }, id) =>
        asAdmin(app, 'DELETE', `/admin/users/${user.id}/factors/${id}`),
    }
    for (const [who, remove] of Object.entries(removals)) {
      test(`lowers the session of the client to aal1 when removed by ${who}`, async () => {
        const { app } = await serverFor(own)
        const client = await createClient(app)
        const { session, factor } = await userWithTotp(app)
        const tokens = await signInClient(app, client, session)
        assert.equal(decodeClaims(tokens.access_token).aal, 'aal2')
        assert.equal((await remove(app, session, factor.id)).statusCode, 200)
        const refreshed: Tokens = (await refreshTokens(app, client, tokens.refresh_token)).json()
        assert.equal(decodeClaims(refreshed.access_token).aal, 'aal1')
      })

      test(`rejects the code of the client when removed by ${who}`, async () => {
        const { app } = await serverFor(own)
        const client = await createClient(app)
        const { session, factor } = await userWithTotp(app)
        const { code, verifier } = await obtainCode(app, client, session)
        assert.equal((await remove(app, session, factor.id)).statusCode, 200)
        const exchanged = await exchangeCode(app, client, code, { code_verifier: verifier })
        assert.deepEqual([exchanged.statusCode, exchanged.json().error], [400, 'invalid_grant'])
      })
    }

    test('keeps the session of a client that another factor approved', async () => {
      const { app } = await serverFor(own)
      const client = await createClient(app)
      const { session, factor } = await userWithTotp(app)
      const other = await stepUp(app, session, await addTotp(app, session, 'other'))
      const tokens = await signInClient(app, client, other)
      assert.equal((await send(app, 'DELETE', `/factors/${factor.id}`, other)).statusCode, 200)
      const refreshed: Tokens = (await refreshTokens(app, client, tokens.refresh_token)).json()
      assert.equal(decodeClaims(refreshed.access_token).aal, 'aal2')
    })
  })
})
