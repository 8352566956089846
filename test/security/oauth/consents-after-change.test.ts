/** A consent that a stolen session gave must not outlive what ends that session. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  createClient,
  makePkce,
  ownConsentPage,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { bodyOf200, signedIn, signIn, signUpUser } from '../../support/users.ts'

interface Owner {
  id: string
  email: string
  token: string
}

type End = (app: App, owner: Owner) => Promise<{ statusCode: number; body: string }>

const other = 'another long password 7'

const signOut = (app: App, token: string, scope: string) =>
  call(app, `/logout?scope=${scope}`, {}, { token })

const ending: Record<string, End> = {
  'a new password': (app, { token }) => changeUser(app, token, { password: other }),
  'a new password by an admin': (app, { id }) =>
    asAdmin(app, 'PUT', `/admin/users/${id}`, { password: other }),
  'a sign-out of other sessions': (app, { token }) => signOut(app, token, 'others'),
  'a sign-out by an admin': (app, { id }) => asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`),
}

suite('consent given in a stolen session', () => {
  const serverFor = sharedServers()

  async function consented(app: App) {
    const client = await createClient(app)
    const { email, user, access_token: token } = await signUpUser(app)
    await signInClient(app, client, await signedIn(app, email), { scope: 'email' })
    return { client, owner: { id: user.id, email, token } }
  }

  /** Whether the client gets a code without a question to the user. */
  async function isSilent(app: App, client: OauthClient, token: string) {
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, { scope: 'email', ...pkce })
    const asked = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
    assert.equal(asked.statusCode, 200, asked.body)
    return asked.json().redirect_url !== undefined
  }

  for (const [what, end] of Object.entries(ending)) {
    test(`ends with ${what}`, async () => {
      const { app } = await serverFor(ownConsentPage)
      const { client, owner } = await consented(app)
      assert.equal(await isSilent(app, client, owner.token), true)
      const ended = await end(app, owner)
      assert.ok(ended.statusCode < 300, ended.body)
      const { email } = owner
      const password = what.includes('password') ? { password: other } : {}
      const { access_token } = bodyOf200<Session>(await signIn(app, { email, ...password }))
      assert.equal(await isSilent(app, client, access_token), false)
    })
  }

  test('is kept at an ordinary sign-out after a day, which ends all sessions', async () => {
    const { app } = await serverFor(ownConsentPage)
    const { client, owner } = await consented(app)
    await app.db
      .updateTable('oauth_consents')
      .set({ granted_at: new Date(Date.now() - 2 * 86_400_000) })
      .execute()
    assert.equal((await signOut(app, owner.token, 'global')).statusCode, 204)
    const { access_token } = await signedIn(app, owner.email)
    assert.equal(await isSilent(app, client, access_token), true)
  })
})
